//! `queuetop jobs`: the list of jobs without a screen: the same filter, the same columns, page by page with a cursor.

mod csv;
mod cursor;
mod json;
pub(super) mod table;

use std::sync::Arc;

use crate::args::{JobsArgs, JobsFormat};
use crate::db::{Connector, DbError};
use crate::model::filter::Reach;
use crate::model::{Filter, FilterError, Job, Page, PageRequest};
use crate::text::{Safe, width};

use super::{CommandError, target, tell};

/// Runs `queuetop jobs`.
///
/// # Errors
/// Wrong usage, a filter that is none among it; a database that cannot be reached, has no queue, or may not be read.
pub async fn run(args: JobsArgs) -> Result<u8, CommandError> {
    let filter: Filter = args.filter.parse().map_err(|error| pointed_at(&args.filter, &error))?;
    let after = args.after.as_deref().map(|text| cursor::decode(text, &filter, args.sort)).transpose()?;
    if let Some(note) = filter.cost_note().filter(|_| filter.reach() > Reach::Rows) {
        tell::note(note);
    }
    let chosen = target::choose(args.place.db.as_deref(), None)?;
    let schema = chosen.schema(args.place.schema.clone());
    let request = PageRequest { filter, sort: args.sort, after, limit: args.limit };
    let page = read(&chosen.connector, schema.as_deref(), &request).await?;
    let Some(jobs) = page.jobs.value() else {
        return Err(CommandError::Failed(page.note.unwrap_or_else(|| "the list of jobs is not known".to_owned())));
    };
    write(&args, &page, jobs)?;
    Ok(0)
}

async fn read(connector: &Arc<Connector>, schema: Option<&str>, request: &PageRequest) -> Result<Page, CommandError> {
    let failed = |error: DbError| CommandError::Failed(error.to_string());
    let (session, found) = target::queues(connector, schema).await?;
    let kind = request.filter.backend();
    let backend = found.iter().find(|backend| backend.kind() == kind);
    let backend = backend.ok_or_else(|| CommandError::Failed(format!("no {kind} queue in {}", connector.target())))?;
    backend.page(&session, request).await.map_err(failed)
}

fn write(args: &JobsArgs, page: &Page, jobs: &[Job]) -> Result<(), CommandError> {
    let next = page.next.as_ref().map(|next| cursor::encode(next, &page.request.filter, args.sort));
    match args.format {
        JobsFormat::Json => return tell::out(json::lines(page, jobs, next.as_deref())?),
        JobsFormat::Csv => tell::out(csv::lines(jobs))?,
        JobsFormat::Table => tell::out(table::lines(jobs, page.taken_at))?,
    }
    if let Some(note) = &page.note {
        tell::note(Safe::full(note));
    }
    if let Some(next) = next {
        tell::note(format_args!("there is more: --after {next}"));
    }
    Ok(())
}

/// Prints the filter with its wrong part underlined; the error says what was expected there.
pub(super) fn pointed_at(text: &str, error: &FilterError) -> CommandError {
    let part = |range: std::ops::Range<usize>| Safe::full(text.get(range).unwrap_or_default());
    let before = part(0..error.span.start).width();
    let marks = "^".repeat(part(error.span.clone()).width().max(1));
    tell::plain(format_args!("  {}\n  {:before$}{marks}", Safe::full(text), ""));
    CommandError::Usage(format!("--filter: {}", error.message))
}

/// Columns with their widths, the last one as long as it is.
fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
    for row in rows {
        for (most, cell) in widths.iter_mut().zip(row) {
            *most = (*most).max(width(cell));
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, most)| {
            let room = most - width(cell);
            format!("{cell}{:room$}", "")
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
