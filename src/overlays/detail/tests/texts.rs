//! Searching, reading on, copying and revealing. Not part of the program.

use super::*;

#[test]
fn search_counts_goes_round_and_unfolds() {
    let mut open = open(detail());
    draw(&mut open, SIZE);
    press(&mut open, Command::FoldAll);
    assert!(matches!(press(&mut open, Command::NextMatch), Answer::Say(_, false)));
    assert_eq!(open.scope(), Scope::Detail);
    press(&mut open, Command::Search);
    assert_eq!(open.scope(), Scope::Prompt);
    assert!(open.paste("EXAMPLE\n"));
    assert!(draw(&mut open, SIZE).lines().last().unwrap().starts_with(" search: EXAMPLE"));
    assert_eq!(said(&press(&mut open, Command::Confirm)), "not in the error or the payload");
    search(&mut open, "example");
    let text = draw(&mut open, SIZE);
    assert!(text.contains(" example: 1 of 2, ") && cursor(&text).contains("smtp.example"), "{text}");
    press(&mut open, Command::NextMatch);
    let text = draw(&mut open, SIZE);
    assert!(text.contains(" example: 2 of 2, ") && cursor(&text).contains("ops@example.org"), "{text}");
    press(&mut open, Command::NextMatch);
    assert!(draw(&mut open, SIZE).contains(" example: 1 of 2, "));
    press(&mut open, Command::PreviousMatch);
    assert!(draw(&mut open, SIZE).contains(" example: 2 of 2, "));
    press(&mut open, Command::FoldAll);
    search(&mut open, "123456");
    assert!(cursor(&draw(&mut open, SIZE)).contains("\"big\": 12345678901234567890"));
    let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(open.on_key(&escape, Some(Command::Back)), Answer::Stay, "it takes back the search first");
    assert!(!draw(&mut open, SIZE).contains(" of 2, "));
    assert_eq!(open.on_key(&escape, Some(Command::Back)), Answer::Close);
}

#[test]
fn what_was_cut_is_read_on_in_parts() {
    let mut cut = detail();
    cut.payload = Reading::Exact(preview("{\"a\": [1, 2", 20, true));
    let mut open = open(cut);
    draw(&mut open, SIZE);
    assert!(open.works(Command::ReadMore, NOW));
    let Answer::Read(request) = press(&mut open, Command::ReadMore) else { panic!("nothing was asked for") };
    assert_eq!((request.part, request.from, request.chars), (Part::Payload, 11, 1 << 20));
    assert_eq!(said(&press(&mut open, Command::ReadAll)), "more is on its way");
    let piece = |text: &str, stamp: &str| Excerpt { text: text.into(), bytes: 20, next: None, stamp: stamp.into() };
    let read = |piece| PartRead { piece: Some(piece), cost: Duration::from_millis(58) };
    let other = PartRequest { from: 0, ..request.clone() };
    assert_eq!(open.on_part(&other, read(piece("x", "s"))), None, "nobody waits for that");
    let said_of_it = open.on_part(&request, read(piece(", 3], \"b\": 4}", "s"))).unwrap();
    assert_eq!(said_of_it.0, "all 20 bytes of the payload are here; that took the server 58 ms");
    assert!(draw(&mut open, LARGE).contains("\"b\": 4"));
    assert_eq!(said(&press(&mut open, Command::ReadMore)), "error and payload are here as a whole");
    let mut cut = detail();
    cut.payload = Reading::Exact(preview("[1", 20, true));
    take(&mut open, cut);
    let Answer::Read(request) = press(&mut open, Command::ReadAll) else { panic!("nothing was asked for") };
    assert_eq!(request.chars, (8 << 20) - 2);
    let (words, good) = open.on_part(&request, read(piece(", 2]", "other"))).unwrap();
    assert!(words.contains("has changed meanwhile") && !good);
    assert!(open.request_again(Duration::ZERO).is_some(), "it is read again at once");
}

#[test]
fn copying_says_what_and_how_much_of_it() {
    let mut open = open(detail());
    let Answer::Copy { text, notice } = press(&mut open, Command::Copy) else { panic!() };
    assert_eq!((text, notice.contains("the id")), (open.at().id.clone(), true));
    let Answer::Copy { text, notice } = press(&mut open, Command::CopyPayload) else { panic!() };
    assert!(text.starts_with("{\"to\"") && notice.starts_with("copied the payload, 71 bytes"), "{notice}");
    let mut huge = detail();
    huge.error = Reading::Exact(Some(preview(&"漢".repeat(400_000), 1_200_000, false)));
    huge.payload = Reading::Exact(preview("[1", 1_200_000, true));
    take(&mut open, huge);
    let Answer::Copy { text, notice } = press(&mut open, Command::CopyError) else { panic!() };
    assert!(text.len() <= COPY_MOST && text.len() + 3 > COPY_MOST);
    assert!(notice.starts_with("copied the first 73 kB of 1.1 MB of the error, if"), "{notice}");
    let notice = press(&mut open, Command::CopyPayload);
    assert!(said(&notice).starts_with("copied the first 2 bytes of 1.1 MB of the payload"), "{notice:?}");
    let mut none = detail();
    none.error = Reading::Exact(None);
    take(&mut open, none);
    assert_eq!(said(&press(&mut open, Command::CopyError)), "there is no error to copy");
    assert!(!open.works(Command::CopyError, NOW) && open.works(Command::CopyPayload, NOW));
}

#[test]
fn hidden_values_are_shown_on_a_key_until_it_closes() {
    let mut open = open(detail());
    open.redaction = Redaction::new(false, &["to".into()]);
    open.payload = None;
    take(&mut open, detail());
    let text = draw(&mut open, LARGE);
    assert!(text.contains("\"to\": •••,") && text.contains("PAYLOAD  72 bytes  * reveals"), "{text}");
    assert!(open.works(Command::Reveal, NOW));
    search(&mut open, "ops@");
    assert!(draw(&mut open, LARGE).contains("none found"));
    let Answer::Copy { text, notice } = press(&mut open, Command::CopyPayload) else { panic!() };
    assert!(text.starts_with("{\"to\": \"•••\",") && notice.contains("hidden values as signs"), "{text} {notice}");
    assert!(said(&press(&mut open, Command::Reveal)).starts_with("nothing hidden here"));
    search(&mut open, "to\"");
    assert!(cursor(&draw(&mut open, LARGE)).contains("\"to\": •••"));
    assert_eq!(said(&press(&mut open, Command::Reveal)), "shown until this detail is closed; * hides it again");
    assert!(cursor(&draw(&mut open, LARGE)).contains("ops@example.org"));
    take(&mut open, detail());
    assert!(cursor(&draw(&mut open, LARGE)).contains("ops@example.org"), "reading again does not hide it");
    assert_eq!(said(&press(&mut open, Command::Reveal)), "hidden again");
    assert!(!draw(&mut open, LARGE).contains("ops@"));
}

#[test]
fn any_size_and_any_text_will_do() {
    let hostile = "\u{1b}]52;c;YQ==\u{7}\u{9b}31m\u{202e}漢\n";
    let mut all = detail();
    all.job.at.queue.name = hostile.into();
    all.job.worker = Some(hostile.into());
    all.payload = Reading::Exact(preview(&format!("{{\"{hostile}\": [\"{hostile}\"]}}"), 9, true));
    all.error = Reading::Exact(Some(preview(&hostile.repeat(9), 9, false)));
    all.more = vec![(hostile.into(), hostile.into())];
    if let Reading::Exact(attempts) = &mut all.attempts {
        attempts[0].outcome = hostile.into();
        attempts[0].error = Some(hostile.into());
        attempts[0].worker = Some(hostile.into());
    }
    let mut open = open(all);
    open.redaction = Redaction::new(false, &["*.0".into()]);
    let commands = [
        Command::Bottom,
        Command::FoldAll,
        Command::Fold,
        Command::Reveal,
        Command::NextMatch,
        Command::PageUp,
        Command::NextPane,
        Command::Down,
    ];
    for size in [SIZE, (120, 40), (20, 5), (10, 3), (1, 1), (300, 2), (0, 0), (200, 60)] {
        for command in commands {
            let text = draw(&mut open, size);
            assert!(!text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')), "{text:?}");
            press(&mut open, command);
            open.scroll(Command::Down);
        }
        search(&mut open, "31m");
        open.scroll(Command::Up);
    }
}
