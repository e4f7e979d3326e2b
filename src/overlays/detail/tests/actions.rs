//! What the detail says of each action, in every state. Not part of the program.

use super::*;

/// The key words of the section on keys.
fn keys_now(detail: JobDetail) -> Vec<String> {
    let text = draw(&mut open(detail), (120, 60));
    let lines = text.lines().skip_while(|line| !line.contains("KEYS NOW")).skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_state_tells_what_each_key_would_do_or_why_not() {
    use JobState::{Completed, Dead, Exhausted, Expired, Ready, Running, Scheduled};
    let mut table = String::new();
    for (state, attempts) in [
        (Ready, 1),
        (Scheduled, 1),
        (Exhausted, 8),
        (Running, 2),
        (Running, 8),
        (Expired, 3),
        (Expired, 8),
        (Completed, 1),
        (Dead, 8),
    ] {
        table.extend([state.as_str(), " after ", &attempts.to_string(), " of 8\n"]);
        table.extend(keys_now(of_state(state, attempts)).iter().map(|line| format!("    {line}\n")));
    }
    let mut replayed = of_state(Dead, 8);
    replayed.replayed_as = Some("55d00000-0000-4000-8000-0000000000aa".into());
    table.push_str("dead, replayed\n");
    table.extend(keys_now(replayed).iter().map(|line| format!("    {line}\n")));
    insta::assert_snapshot!(table);
}

#[test]
fn the_footer_is_told_which_keys_work() {
    let works = |state, attempts, commands: &[Command]| {
        let open = open(of_state(state, attempts));
        commands.iter().map(|command| open.works(*command, NOW)).collect::<Vec<_>>()
    };
    let actions = [
        Command::Requeue,
        Command::ForceRequeue,
        Command::DeadLetter,
        Command::Reap,
        Command::Replay,
        Command::Reschedule,
        Command::Priority,
    ];
    let (yes, no) = (true, false);
    assert_eq!(works(JobState::Running, 1, &actions), [no, yes, no, no, no, no, yes]);
    assert_eq!(works(JobState::Expired, 1, &actions), [yes, no, yes, yes, no, no, yes]);
    assert_eq!(works(JobState::Ready, 1, &actions), [no, no, yes, no, no, yes, yes]);
    assert_eq!(works(JobState::Exhausted, 8, &actions), [yes, no, yes, no, no, no, yes]);
    assert_eq!(works(JobState::Completed, 1, &actions), [no; 7]);
    assert_eq!(works(JobState::Dead, 8, &actions), [no, no, no, no, yes, no, no]);
    let others = [Command::NextMatch, Command::ReadMore, Command::Reveal, Command::Fold, Command::Down, Command::Back];
    assert_eq!(works(JobState::Ready, 1, &others), [no, no, no, yes, yes, yes]);
}
