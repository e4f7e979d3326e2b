//! What a terminal makes of the bytes: frames with every hostile text replace each other, and after each the screen of a
//! terminal model equals a fresh drawing of the same frame. So no column drifts and no old letter stays.

use queuetop::panes::{self, Marks, Pane};
use queuetop::theme::Theme;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use crate::support::fixtures::{self, Fixture, context};
use crate::support::hostile;

const AREA: Rect = Rect::new(0, 0, 100, 30);

/// A program's terminal: what it was sent, and what a model of a terminal shows.
struct Tty {
    terminal: Terminal<CrosstermBackend<Sink>>,
    model: vt100::Parser<Heard>,
}

/// What a terminal was asked to do besides showing letters. Drawing asks for none of it, so data did.
#[derive(Default)]
struct Heard(Vec<&'static str>);

impl vt100::Callbacks for Heard {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.0.push("bell");
    }

    fn set_window_icon_name(&mut self, _: &mut vt100::Screen, _name: &[u8]) {
        self.0.push("icon name");
    }

    fn set_window_title(&mut self, _: &mut vt100::Screen, _title: &[u8]) {
        self.0.push("title");
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _ty: &[u8], _data: &[u8]) {
        self.0.push("clipboard");
    }

    fn unhandled_control(&mut self, _: &mut vt100::Screen, _byte: u8) {
        self.0.push("control byte");
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, _params: &[&[u8]]) {
        self.0.push("operating system command");
    }
}

/// Keeps the bytes until they are taken.
#[derive(Clone, Default)]
struct Sink(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tty {
    fn new() -> (Self, Sink) {
        let sink = Sink::default();
        let options = TerminalOptions { viewport: Viewport::Fixed(AREA) };
        let terminal = Terminal::with_options(CrosstermBackend::new(sink.clone()), options).unwrap();
        let [rows, columns] = [AREA.height, AREA.width].map(|n| n.try_into().unwrap());
        let model = vt100::Parser::new_with_callbacks(rows, columns, 0, Heard::default());
        (Self { terminal, model }, sink)
    }

    fn draw(&mut self, sink: &Sink, pane: &mut dyn Pane, fixture: &Fixture) -> String {
        let (marks, theme) = (Marks::new(), Theme::terminal());
        let ctx = context(fixture, &marks, &theme);
        pane.on_snapshot(&ctx);
        fixture.page.iter().for_each(|page| pane.on_page(page));
        self.terminal.draw(|frame| pane.render(AREA, frame.buffer_mut(), &ctx)).unwrap();
        self.model.process(&sink.0.take());
        assert_eq!(self.model.callbacks().0, [""; 0]);
        let contents = self.model.screen().contents();
        let lines = contents.trim_end().lines().map(|line| line.trim_end().to_owned() + "\n");
        lines.collect()
    }
}

fn all() -> Vec<Box<dyn Pane>> {
    let mut all = panes::overview();
    all.push(Box::new(panes::jobs::Jobs::default()));
    all
}

/// The hostile fixture with its texts in another order, so that each row is replaced by a different one.
fn turned(by: usize) -> Fixture {
    let mut fixture = hostile::fixture();
    let texts = hostile::strings();
    if let Some(snapshot) = &mut fixture.snapshot {
        for (i, queue) in snapshot.queues.iter_mut().enumerate() {
            queue.id.name.clone_from(&texts[(i + by) % texts.len()]);
        }
    }
    fixture
}

#[test]
fn a_screen_after_many_frames_equals_a_fresh_one() {
    let frames = [hostile::fixture(), turned(1), fixtures::busy(), turned(17), fixtures::empty(), turned(40)];
    for index in 0..all().len() {
        let (mut tty, sink) = Tty::new();
        for (number, fixture) in frames.iter().enumerate() {
            let shown = tty.draw(&sink, all()[index].as_mut(), fixture);
            let (mut fresh, fresh_sink) = Tty::new();
            let want = fresh.draw(&fresh_sink, all()[index].as_mut(), fixture);
            assert_eq!(shown, want, "pane {index}, frame {number}");
        }
    }
}
