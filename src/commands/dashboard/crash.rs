//! Panics: kept while the screen is up, so that the report is read on the normal screen and not painted over.

use std::sync::{Arc, Mutex, PoisonError};

use color_eyre::config::HookBuilder;

use super::super::tell;
use super::terminal::ScreenFlag;

/// Reports of panics that happened while the screen was up.
#[derive(Debug, Clone, Default)]
pub struct Crash {
    /// Whether the screen is up.
    pub screen: ScreenFlag,
    reports: Arc<Mutex<Vec<String>>>,
}

impl Crash {
    /// Installs the hooks for reports. Call once, before anything else.
    ///
    /// # Errors
    /// When hooks are installed already.
    pub fn install() -> color_eyre::Result<Self> {
        let crash = Self::default();
        let (panic_hook, error_hook) = HookBuilder::default().into_hooks();
        error_hook.install()?;
        let (screen, reports) = (crash.screen.clone(), Arc::clone(&crash.reports));
        std::panic::set_hook(Box::new(move |info| {
            let report = panic_hook.panic_report(info).to_string();
            if screen.is_up() {
                reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
            } else {
                tell::plain(&report);
            }
        }));
        Ok(crash)
    }

    /// The reports kept so far, oldest first; they are handed out once.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.reports.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
