//! What it takes to open a job with a payload of 5 MB and an error of 1 MB, and to move about in it.
//!
//! `cargo bench --bench detail` starts a PostgreSQL of its own and prints a table: the reading by the server, the layout, and frames
//! of 200x60 at many places of a page of more than 330,000 lines.

use std::error::Error;
use std::io::{Write, stderr, stdout};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use queuetop::backends::{self, Backend};
use queuetop::db::{ConnInfo, Connector, Env, Purpose, Session, SqlLog};
use queuetop::engine::migrate;
use queuetop::keymap::Command;
use queuetop::model::{DetailRequest, History, JobDetail, JobRef, PageRequest, Redaction, Stamps};
use queuetop::overlays::detail::{Answer, Detail};
use queuetop::panes::{Arrangement, Ctx, Marks, TimeStyle};
use queuetop::private_pg::{Options, PrivatePg};
use queuetop::theme::Theme;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use tokio_postgres::NoTls;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// 5 MB of payload that prints to some 335,000 lines, and 1 MB of error in one line.
const JOB: &str = "insert into jobs (queue, payload, last_error)
    select 'emails', jsonb_agg(jsonb_build_object('n', n, 'to', 'user' || n || '@example.org', 'ok', true, 'h', md5(n::text))),
           (select string_agg(md5(n::text), '') from generate_series(1, 32768) n)
    from generate_series(1, 55000) n";
/// A frame comes at most this often.
const FRAME: Duration = Duration::from_millis(33);
const AREA: Rect = Rect::new(0, 0, 200, 60);
const ROUNDS: usize = 21;

/// Times of one kind.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.0.push(started.elapsed());
        done
    }

    fn line(&mut self, what: &str) -> String {
        self.0.sort_unstable();
        let ms = |at: usize| self.0.get(at).map_or(0.0, Duration::as_secs_f64) * 1e3;
        let last = self.0.len().saturating_sub(1);
        format!("{what:<58} {:>9.2} {:>9.2} {:>7}\n", ms(last / 2), ms(last), self.0.len())
    }
}

/// What a frame is drawn from.
struct Screen {
    history: History,
    marks: Marks,
    theme: Theme,
    arrangement: Arrangement,
    buf: Buffer,
}

impl Screen {
    fn draw(&mut self, open: &mut Detail, now: queuetop::model::Time) {
        let ctx = Ctx {
            snapshot: None,
            findings: &[],
            history: &self.history,
            server: None,
            queue: None,
            marks: &self.marks,
            now,
            stale: false,
            range: Duration::from_mins(15),
            times: TimeStyle::Relative,
            theme: &self.theme,
            filter: "",
            arrangement: &self.arrangement,
            focused: true,
        };
        self.buf.reset();
        open.render(AREA, &mut self.buf, &ctx);
    }
}

fn press(open: &mut Detail, command: Command) -> Answer {
    open.on_key(&KeyEvent::new(KeyCode::Null, KeyModifiers::NONE), Some(command))
}

async fn first_job(session: &Session, jobs: &dyn Backend) -> Fallible<JobRef> {
    let page = jobs.page(session, &PageRequest { limit: 1, ..PageRequest::default() }).await?;
    let job = page.jobs.value().and_then(|jobs| jobs.first()).ok_or("no job")?;
    Ok(job.at.clone())
}

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut say = |line: &str| drop(writeln!(stderr(), "{line}"));
    let server = PrivatePg::start(&Options { fetch: true, ..Options::default() }, &mut say)?;
    let (mut admin, connection) = tokio_postgres::connect(&server.dsn("postgres"), NoTls).await?;
    tokio::spawn(connection);
    migrate::run(&mut admin, &migrate::Options::default()).await?;
    admin.batch_execute(JOB).await?;
    let info = ConnInfo::resolve(Some(&server.dsn("postgres")), &Env::of_process())?;
    let session = Connector::new(info, SqlLog::default()).connect(Purpose::Read).await?;
    let jobs = backends::all(&session, None).await?.pop().ok_or("no backend")?;
    let job = first_job(&session, &*jobs).await?;

    let mut out = format!("{:<58} {:>9} {:>9} {:>7}\n", "", "median ms", "max ms", "times");
    let (mut opening, mut again) = (Times::default(), Times::default());
    let mut screen = Screen {
        history: History::default(),
        marks: Marks::new(),
        theme: Theme::terminal(),
        arrangement: Arrangement::default(),
        buf: Buffer::empty(AREA),
    };
    let mut open = Detail::new(job.clone(), Redaction::default());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        open = Detail::new(job.clone(), Redaction::default());
        let found = read(&session, &*jobs, &job, Stamps::default()).await?;
        let now = found.taken_at;
        open.on_detail(&job, Some(found), Duration::ZERO);
        screen.draw(&mut open, now);
        opening.0.push(started.elapsed());
        let started = Instant::now();
        let request = open.request(Duration::ZERO);
        let found = read(&session, &*jobs, &job, request.known).await?;
        open.on_detail(&job, Some(found), Duration::ZERO);
        again.0.push(started.elapsed());
    }
    out += &opening.line("open: ask, take in, first frame (5.1 MB and 1.0 MB)");
    out += &again.line("ask again: the row and its attempts");

    let (mut parts, mut took) = (Times::default(), Times::default());
    let now = read(&session, &*jobs, &job, Stamps::default()).await?.taken_at;
    while let Answer::Read(request) = press(&mut open, Command::ReadAll) {
        let started = Instant::now();
        let read = jobs.part(&session, &request).await?;
        parts.0.push(started.elapsed());
        took.take(|| open.on_part(&request, read));
    }
    out += &parts.line("all the rest of it: the server, and on the way");
    out += &took.line("all the rest of it: its lines");
    moving(&mut open, &mut screen, now, &mut out);
    stdout().lock().write_all(out.as_bytes())?;
    Ok(())
}

/// Everything that changes what is on screen, as the keys do it.
fn moving(open: &mut Detail, screen: &mut Screen, now: queuetop::model::Time, out: &mut String) {
    let (mut unfold, mut frames, mut keys, mut search) =
        (Times::default(), Times::default(), Times::default(), Times::default());
    // Unfolded at the end: all of its lines are on the page.
    for _ in 0..5 {
        unfold.take(|| press(open, Command::FoldAll));
    }
    *out += &unfold.line("fold or unfold all");
    for command in [Command::Bottom, Command::PageUp, Command::Up, Command::Top, Command::PageDown, Command::Down] {
        for _ in 0..50 {
            keys.take(|| press(open, command));
            frames.take(|| screen.draw(open, now));
        }
    }
    for wanted in ["user54321@", "nowhere to be found", "a"] {
        press(open, Command::Search);
        open.paste(wanted);
        search.take(|| press(open, Command::Confirm));
        frames.take(|| screen.draw(open, now));
    }
    *out += &keys.line("a key that moves");
    *out += &search.line("search in all of it");
    *out += &frames.line("a frame of 200x60");
    let over = frames.0.iter().filter(|time| **time > FRAME).count();
    let title: String = screen.buf.content.iter().take(usize::from(AREA.width) * 3).map(Cell::symbol).collect();
    let says = title.trim_matches(['─', ' ']).rsplit('─').next().unwrap_or_default().trim();
    out.extend(["frames that took longer than 33 ms: ", &over.to_string(), "\nthe page says: ", says, "\n"]);
}

async fn read(session: &Session, jobs: &dyn Backend, job: &JobRef, known: Stamps) -> Fallible<JobDetail> {
    let request = DetailRequest { job: job.clone(), known };
    Ok(jobs.detail(session, &request).await?.ok_or("the job is gone")?)
}
