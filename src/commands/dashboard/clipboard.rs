//! The clipboard of the terminal at the other end, by OSC 52: through ssh, and through what multiplexes terminals in between.
//! Nothing answers, so nobody knows whether it worked.

use std::io::{self, Write, stdout};

use crossterm::clipboard::CopyToClipboard;
use crossterm::queue;

use crate::msg::COPY_MOST;

/// What stands between us and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Nothing,
    Tmux,
    Screen,
}

/// GNU screen drops longer strings; of old versions this is the limit, newer ones take 768 bytes.
const SCREEN_MOST: usize = 256;
const DCS: &[u8] = b"\x1bP";
const ST: &[u8] = b"\x1b\\";

/// Puts a text on the clipboard; of one that is too long nothing.
///
/// # Errors
/// When the terminal is gone.
pub(super) fn copy(text: &str) -> io::Result<()> {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let between = match (set("TMUX"), set("STY")) {
        (true, _) => Between::Tmux,
        (false, true) => Between::Screen,
        (false, false) => Between::Nothing,
    };
    let bytes = sequence(text, between)?;
    let mut out = stdout().lock();
    out.write_all(&bytes)?;
    out.flush()
}

/// The bytes that do it.
fn sequence(text: &str, between: Between) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    if text.len() > COPY_MOST {
        return Ok(plain);
    }
    queue!(plain, CopyToClipboard::to_clipboard_from(text))?;
    // The other way to end it: `ESC \` would also end what screen wraps around it.
    if plain.ends_with(ST) {
        plain.truncate(plain.len() - ST.len());
        plain.push(0x07);
    }
    Ok(match between {
        Between::Nothing => plain,
        Between::Tmux => [for_tmux(&plain), plain].concat(),
        Between::Screen => for_screen(&plain),
    })
}

/// Past tmux to its terminal. It takes this with `allow-passthrough on` (always before 3.3), and the plain sequence with
/// `set-clipboard on`; which of them holds cannot be asked, so it gets both: setting the same text twice does no harm.
fn for_tmux(plain: &[u8]) -> Vec<u8> {
    let mut out = [DCS, b"tmux;"].concat();
    for byte in plain {
        // Inside of the wrapper every ESC is written twice.
        if *byte == 0x1b {
            out.push(0x1b);
        }
        out.push(*byte);
    }
    out.extend(ST);
    out
}

/// Past screen to its terminal, in pieces that it takes.
fn for_screen(plain: &[u8]) -> Vec<u8> {
    plain.chunks(SCREEN_MOST - DCS.len() - ST.len()).flat_map(|piece| [DCS, piece, ST].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_terminal_gets_one_sequence() {
        assert_eq!(sequence("id", Between::Nothing).unwrap(), b"\x1b]52;c;aWQ=\x07");
        assert_eq!(sequence("\u{1b}]0;x\u{7}", Between::Nothing).unwrap(), b"\x1b]52;c;G10wO3gH\x07");
    }

    #[test]
    fn tmux_gets_it_wrapped_and_plain() {
        let want = b"\x1bPtmux;\x1b\x1b]52;c;aWQ=\x07\x1b\\\x1b]52;c;aWQ=\x07";
        assert_eq!(sequence("id", Between::Tmux).unwrap(), want);
    }

    #[test]
    fn screen_gets_pieces_that_it_takes() {
        assert_eq!(sequence("id", Between::Screen).unwrap(), b"\x1bP\x1b]52;c;aWQ=\x07\x1b\\");
        let text = "x".repeat(1_000);
        let sent = sequence(&text, Between::Screen).unwrap();
        let pieces: Vec<&[u8]> = sent.split_inclusive(|byte| *byte == b'\\').collect();
        assert!(pieces.iter().all(|p| p.len() <= SCREEN_MOST && p.starts_with(DCS) && p.ends_with(ST)));
        let inner: Vec<u8> = pieces.iter().flat_map(|p| p[DCS.len()..p.len() - ST.len()].to_vec()).collect();
        assert_eq!(inner, sequence(&text, Between::Nothing).unwrap());
    }

    #[test]
    fn the_longest_text_makes_a_sequence_that_terminals_take() {
        let most = sequence(&"x".repeat(COPY_MOST), Between::Nothing).unwrap();
        assert!((99_000..=100_000).contains(&most.len()), "{}", most.len());
        assert!(sequence(&"x".repeat(COPY_MOST + 1), Between::Nothing).unwrap().is_empty());
    }
}
