//! The mouse: where a click leads, and that it does nothing below an overlay.

use crossterm::event::KeyCode;
use queuetop::msg::{Effect, Msg, Pointer, Turn};
use ratatui::layout::Position;

use super::Rig;

#[test]
fn a_click_moves_focus_and_cursor_and_the_second_one_opens() {
    let mut rig = Rig::connected();
    let effects = rig.keys("m");
    assert_eq!(effects, [Effect::Mouse(true)]);
    let screen = rig.screen(120, 40);
    let row = screen.lines().position(|line| line.contains("3c6e…02")).expect("the second lease");
    let column = screen.lines().nth(row).and_then(|line| line.find("3c6e")).expect("its column");
    let column = screen.lines().nth(row).unwrap()[..column].chars().count();
    let at = Position { x: u16::try_from(column).unwrap(), y: u16::try_from(row).unwrap() };
    let click = |rig: &mut Rig| rig.app.update(Msg::Mouse(Pointer::Click(at)));
    assert_eq!(click(&mut rig), []);
    rig.screen(120, 40);
    let effects = click(&mut rig);
    assert!(
        matches!(effects.as_slice(), [Effect::ReadDetail(asked)] if asked.job.id.starts_with("3c6e")),
        "{effects:?}"
    );
    // With something open, what lies below takes no clicks.
    rig.screen(120, 40);
    assert_eq!(click(&mut rig), []);
    rig.press(KeyCode::Esc);
    // The wheel moves in the pane under it.
    rig.screen(120, 40);
    rig.app.update(Msg::Mouse(Pointer::Wheel(Position { x: 5, y: 5 }, Turn::Down)));
    assert!(rig.screen(120, 40).contains("THROUGHPUT  emails"), "three queues further down: {}", rig.screen(120, 40));
    assert_eq!(rig.keys("m"), [Effect::Mouse(false)]);
}

#[test]
fn a_click_on_a_tab_shows_its_pane() {
    let mut rig = Rig::connected();
    let screen = rig.screen(80, 24);
    let (y, line) = screen.lines().enumerate().find(|(_, line)| line.contains(" attempts ")).expect("tabs");
    let x = line[..line.find("attempts").unwrap()].chars().count();
    let at = Position { x: u16::try_from(x).unwrap(), y: u16::try_from(y).unwrap() };
    rig.app.update(Msg::Mouse(Pointer::Click(at)));
    assert!(rig.screen(80, 24).contains("ATTEMPTS"));
    for (x, y) in [(0, 0), (79, 23), (500, 500)] {
        rig.app.update(Msg::Mouse(Pointer::Click(Position { x, y })));
    }
}
