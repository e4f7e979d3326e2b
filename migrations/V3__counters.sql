-- Counters: how many jobs each queue has in which state, and what happened to them, without counting the table.
--
--   jobs, dead_letter_jobs --statement triggers--> counter_deltas (append only)
--   counter_deltas --fold_counters_step()--> job_counts, job_slots, queue_counters, queue_history
--
-- Triggers only ever insert: writers never wait for each other here and cannot deadlock. Folding is one transaction
-- at a time, taken by a try-lock. A reader adds totals and the deltas that are still there; both are in one snapshot, so the sum is
-- exact at any moment, whoever folds meanwhile.
--
-- Time is kept in slots of one second. A queued job has the slot of its run_at, a running one that of its lease_until; that
-- is how ready and scheduled, running and expired are told apart without the table: a job is due from the second in which
-- its run_at lies, and a lease has lapsed when the second of its end is over.

-- The second a moment lies in. A lease without an end has run out.
create function {schema}.time_slot(moment timestamptz) returns timestamptz
language sql stable parallel safe as $queuetop$
  select coalesce(pg_catalog.date_trunc('second', moment), '-infinity')
$queuetop$;

-- What one statement changed. Deleted when folded.
create table {schema}.counter_deltas (
  txid bigint not null default txid_current(),          -- the writer: folding and reading start at counter_fold.floor
  at timestamptz not null default clock_timestamp(),
  queue text not null,
  status text,                                          -- queued, running, completed, dead, replayed; null: an event only
  attempts integer not null default 0,
  max_attempts integer not null default 0,
  slot timestamptz not null default '-infinity',
  n integer not null default 0,                         -- how many rows more (or fewer) have this state now
  event text,                                           -- what happened, see `counter_deltas.event` below
  events integer not null default 0,                    -- how many times
  again integer not null default 0,                     -- failures: the attempt ended, and the job was given back or taken over
  bucket smallint                                       -- completed: how long the handler took, see duration_bucket
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
-- Events are kept linear, so that they can be summed in any order and no trigger needs to know which old row became which
-- new one: enqueued, completed, dead, retried, expired, operator and fenced count themselves; `moved` is how many rows
-- an UPDATE took out of `queued` (fewer: put back). claimed = moved + again, since every attempt that ends is in job_failures.
comment on column {schema}.counter_deltas.event is
  'enqueued, moved, completed, dead, retried, expired, operator, fenced, suspect, emptied; claimed = sum(events of moved) + sum(again)';
create index counter_deltas_txid_idx on {schema}.counter_deltas (txid);
create index counter_deltas_suspect_idx on {schema}.counter_deltas (txid) where event in ('suspect', 'emptied');

-- Queued and running jobs by attempts. Completed ones are not counted: nothing depends on how many are kept.
create table {schema}.job_counts (
  queue text not null,
  status text not null,
  attempts integer not null,
  max_attempts integer not null,
  n bigint not null,
  primary key (queue, status, attempts, max_attempts)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Queued jobs with attempts left by the second of run_at; running jobs by the second of lease_until.
create table {schema}.job_slots (
  queue text not null,
  status text not null,
  slot timestamptz not null,
  n bigint not null,
  primary key (queue, status, slot)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
-- What comes to be due between two moments, of all queues at once.
create index job_slots_slot_idx on {schema}.job_slots (slot);

-- What has happened since counting began, per queue; and of its jobs, what is one number a queue.
create table {schema}.queue_counters (
  queue text primary key,
  enqueued bigint not null default 0,
  claimed bigint not null default 0,
  claims bigint not null default 0,                     -- statements that claimed: claimed / claims is the mean batch size
  completed bigint not null default 0,
  retried bigint not null default 0,
  expired bigint not null default 0,                    -- attempts that ended with their lease
  dead bigint not null default 0,
  fenced bigint not null default 0,                     -- results of a worker that no longer owned the job
  dead_rows bigint not null default 0,
  replayed_rows bigint not null default 0,
  due bigint not null default 0,                        -- queued jobs with attempts left whose slot is below the mark
  lapsed bigint not null default 0,                     -- running jobs whose slot is below the second before it
  first_slot timestamptz,                               -- the first of the queue's queued slots, as folded; null: there is none
  since timestamptz not null default clock_timestamp(),
  touched_at timestamptz not null default clock_timestamp()
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- The same per minute; ready, scheduled and running are the depth at the minute's first fold.
create table {schema}.queue_history (
  minute timestamptz not null,
  queue text not null,
  enqueued integer not null default 0,
  claimed integer not null default 0,
  claims integer not null default 0,
  completed integer not null default 0,
  retried integer not null default 0,
  expired integer not null default 0,
  dead integer not null default 0,
  fenced integer not null default 0,
  durations integer[],                                  -- completed jobs by duration_bucket, the first entry is bucket 0
  ready bigint,
  scheduled bigint,
  running bigint,
  primary key (minute, queue)
) with (fillfactor = 80);

-- The minutes whose depth was sampled: a queue without a row in one of them was empty, any other minute is a gap.
create table {schema}.history_minutes (minute timestamptz primary key);

-- Where folding stands; one row, locked by whoever folds.
create table {schema}.counter_fold (
  only_row boolean primary key default true check (only_row),
  floor bigint not null default 0,                      -- every delta below this transaction is folded
  mark timestamptz not null default '-infinity',        -- slots below it are in queue_counters.due, those below the second before in .lapsed
  folded_at timestamptz,
  sampled_minute timestamptz,
  suspect boolean not null default false                -- the counts may be off until recount_counters() has run
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into {schema}.counter_fold default values;

-- A number from queue_settings, kept within its limits; what is missing or is no number leaves the default.
-- history_days 7 (1..400), fold_every_ms 2000 (100..60000), notify_every_ms 100 (10..60000), notify on (or off).
create function {schema}.setting_number(p_name text, p_default integer, p_min integer, p_max integer) returns integer
language sql stable set search_path = pg_catalog, pg_temp as $queuetop$
  select coalesce((select case when s.value ~ '^[0-9]{1,9}$' then least(greatest(s.value::integer, p_min), p_max) end
                   from {schema}.queue_settings s where s.name = p_name), p_default)
$queuetop$;

-- When the next fold is due, in ms since 1970. A sequence: read without a lock, set without a transaction.
create sequence {schema}.fold_clock minvalue 0 start 0;
select setval(format('%I.fold_clock', {schema_literal}), 0);

-- Handler durations in half powers of two of a millisecond: bucket b holds 2^(b/2) to 2^((b+1)/2) ms, bucket 0 all below,
-- bucket 63 all above and what is no number. 2 * log2(1000 * seconds) = 2 / ln(2) * ln(seconds) + 2 * log2(1000).
create function {schema}.duration_bucket(began timestamptz, ended timestamptz) returns smallint
language sql stable parallel safe as $queuetop$
  select greatest(least(pg_catalog.floor(2.885390081777927::float8 * pg_catalog.ln(greatest(
    pg_catalog.date_part('epoch', ended) - pg_catalog.date_part('epoch', began), 0.001)) + 19.931568569324174), 63), 0)::smallint
$queuetop$;

-- The triggers end with a look at notify_clock, which V7 brings: a second trigger would cost more than the look. The clock
-- has passed it, or is more than a minute before it: then it was set back, which must not mute anything.
create function {schema}.count_jobs_inserted() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_at timestamptz := clock_timestamp();
begin
  insert into {schema}.counter_deltas (at, queue, status, attempts, max_attempts, slot, n, event, events)
  select v_at, queue, status, attempts, max_attempts, slot, count(*),
         case when status = 'queued' then 'enqueued' end, case when status = 'queued' then count(*) else 0 end
  from (select queue, status, attempts, max_attempts,
               {schema}.time_slot(case when status = 'queued' then run_at else lease_until end) as slot
        from new_jobs where status in ('queued', 'running')) as rows
  group by queue, status, attempts, max_attempts, slot;
  if abs(date_part('epoch', v_at) * 1000 + 30000
         - pg_sequence_last_value(to_regclass(format('%I.notify_clock', {schema_literal})))) >= 30000 then
    perform {schema}.notify_changed();
  end if;
  return null;
end $queuetop$;

create function {schema}.count_jobs_deleted() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_at timestamptz := clock_timestamp();
begin
  insert into {schema}.counter_deltas (at, queue, status, attempts, max_attempts, slot, n)
  select v_at, queue, status, attempts, max_attempts, slot, -count(*)
  from (select queue, status, attempts, max_attempts,
               {schema}.time_slot(case when status = 'queued' then run_at else lease_until end) as slot
        from old_jobs where status in ('queued', 'running')) as rows
  group by queue, status, attempts, max_attempts, slot;
  if abs(date_part('epoch', v_at) * 1000 + 30000
         - pg_sequence_last_value(to_regclass(format('%I.notify_clock', {schema_literal})))) >= 30000 then
    perform {schema}.notify_changed();
  end if;
  return null;
end $queuetop$;

-- Differences by union of old and new rows, not by joining them (half the cost): what stayed as it was cancels out.
create function {schema}.count_jobs_updated() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_at timestamptz := clock_timestamp();
begin
  insert into {schema}.counter_deltas (at, queue, status, attempts, max_attempts, slot, bucket, n, event, events)
  select v_at, queue, status, attempts, max_attempts, slot, bucket, sum(n),
         case status when 'queued' then 'moved' when 'completed' then 'completed' end,
         case status when 'queued' then -sum(n) when 'completed' then sum(n) else 0 end
  from (select queue, status, attempts, max_attempts,
               {schema}.time_slot(case when status = 'queued' then run_at else lease_until end) as slot,
               case when status = 'completed' and claimed_at <= completed_at then {schema}.duration_bucket(claimed_at, completed_at) end as bucket,
               -1 as n
        from old_jobs
        union all
        select queue, status, attempts, max_attempts,
               {schema}.time_slot(case when status = 'queued' then run_at else lease_until end),
               case when status = 'completed' and claimed_at <= completed_at then {schema}.duration_bucket(claimed_at, completed_at) end,
               1
        from new_jobs) as rows
  group by queue, status, attempts, max_attempts, slot, bucket
  having sum(n) <> 0;
  if abs(date_part('epoch', v_at) * 1000 + 30000
         - pg_sequence_last_value(to_regclass(format('%I.notify_clock', {schema_literal})))) >= 30000 then
    perform {schema}.notify_changed();
  end if;
  return null;
end $queuetop$;

create function {schema}.count_dead_letters() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
begin
  if tg_op = 'INSERT' then
    insert into {schema}.counter_deltas (queue, status, n, event, events)
    select queue, status, count(*), 'dead', count(*)
    from (select queue, case when replayed_at is null then 'dead' else 'replayed' end as status from new_dead) as rows
    group by queue, status;
  elsif tg_op = 'DELETE' then
    insert into {schema}.counter_deltas (queue, status, n)
    select queue, status, -count(*)
    from (select queue, case when replayed_at is null then 'dead' else 'replayed' end as status from old_dead) as rows
    group by queue, status;
  else
    insert into {schema}.counter_deltas (queue, status, n)
    select queue, status, sum(n)
    from (select queue, case when replayed_at is null then 'dead' else 'replayed' end as status, -1 as n from old_dead
          union all
          select queue, case when replayed_at is null then 'dead' else 'replayed' end, 1 from new_dead) as rows
    group by queue, status having sum(n) <> 0;
  end if;
  if abs(date_part('epoch', clock_timestamp()) * 1000 + 30000
         - pg_sequence_last_value(to_regclass(format('%I.notify_clock', {schema_literal})))) >= 30000 then
    perform {schema}.notify_changed();
  end if;
  return null;
end $queuetop$;

create function {schema}.count_failure() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
begin
  insert into {schema}.counter_deltas (queue, event, events, again)
  values (new.queue, case when tg_op = 'UPDATE' then 'fenced' when new.outcome = 'failed' then 'retried' else new.outcome end,
          case when tg_op = 'INSERT' and new.outcome = 'failed' and new.became <> 'queued' then 0 else 1 end,
          case when tg_op = 'INSERT' and new.became in ('queued', 'running') then 1 else 0 end);
  return null;
end $queuetop$;

-- TRUNCATE waits for every writer of its table and shuts out the next ones, so all deltas of its rows are committed by now.
-- In READ COMMITTED they are seen and folded, then the state is emptied: exact. Under an older snapshot they are not seen;
-- there the tables themselves are truncated, with the deltas that wait (seconds of events at most); `emptied` tells the next fold and
-- every reader that due and lapsed hold no more, and a recount is asked for.
create function {schema}.count_truncated() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_fold {schema}.counter_fold;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    if tg_argv[0] = 'jobs' then
      truncate {schema}.counter_deltas, {schema}.job_counts, {schema}.job_slots;
    end if;
    insert into {schema}.counter_deltas (queue, event)
    values ('', case when tg_argv[0] = 'jobs' then 'emptied' else 'suspect' end);
    return null;
  end if;
  loop
    select * into v_fold from {schema}.counter_fold for update;
    exit when not {schema}.fold_deltas(v_fold.mark, 100000);
  end loop;
  if tg_argv[0] = 'jobs' then
    delete from {schema}.job_counts;
    delete from {schema}.job_slots;
    update {schema}.queue_counters set due = 0, lapsed = 0, first_slot = null;
  else
    update {schema}.queue_counters set dead_rows = 0, replayed_rows = 0 where dead_rows <> 0 or replayed_rows <> 0;
  end if;
  return null;
end $queuetop$;

create trigger jobs_count_inserted after insert on {schema}.jobs
  referencing new table as new_jobs for each statement execute function {schema}.count_jobs_inserted();
create trigger jobs_count_updated after update on {schema}.jobs
  referencing old table as old_jobs new table as new_jobs for each statement execute function {schema}.count_jobs_updated();
create trigger jobs_count_deleted after delete on {schema}.jobs
  referencing old table as old_jobs for each statement execute function {schema}.count_jobs_deleted();
create trigger jobs_count_truncated after truncate on {schema}.jobs
  for each statement execute function {schema}.count_truncated('jobs');

create trigger dead_letter_jobs_count_inserted after insert on {schema}.dead_letter_jobs
  referencing new table as new_dead for each statement execute function {schema}.count_dead_letters();
create trigger dead_letter_jobs_count_updated after update on {schema}.dead_letter_jobs
  referencing old table as old_dead new table as new_dead for each statement execute function {schema}.count_dead_letters();
create trigger dead_letter_jobs_count_deleted after delete on {schema}.dead_letter_jobs
  referencing old table as old_dead for each statement execute function {schema}.count_dead_letters();
create trigger dead_letter_jobs_count_truncated after truncate on {schema}.dead_letter_jobs
  for each statement execute function {schema}.count_truncated('dead_letter_jobs');

-- V2 writes one row for every attempt that ends without completing, whoever ended it.
create trigger job_failures_count after insert on {schema}.job_failures
  for each row execute function {schema}.count_failure();
create trigger job_failures_count_fenced after update on {schema}.job_failures
  for each row when (old.fenced_at is null and new.fenced_at is not null)
  execute function {schema}.count_failure();
