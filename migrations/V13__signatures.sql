-- Dead letters by what they say: a signature knows more of what differs from case to case, and how many dead letters have
-- which is kept, so that reading it costs the same however many there are.

-- An error without what differs from case to case, so that equal troubles get equal texts:
--   <n> numbers   <id> ids (uuid, hex, mixed letters and digits)   <v> quoted values, secrets in URLs   <ip> addresses (and MAC)
--   <email>   <time> points in time and durations with their unit
-- What tells troubles apart stays: HTTP statuses and other codes, names of constraints, tables and fields, keys of JSON and the
-- texts of its errors, hosts and paths of URLs. One line counts: the first that says something, which in a Python traceback is
-- the one below the frames, and a line that ends in a colon takes the next one with it. Of it 500 letters; the result has at
-- most 200.
--
-- Rows keep the signature they were given: those from before this file stand as groups of their own, with fewer kinds of parts
-- taken out, until they are pruned. Whoever changes this function again has recount_signatures() run afterwards: it is also
-- what counts dead letters without a signature (from before we were installed).
create or replace function {schema}.error_signature(p_error text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v text := left(ltrim(p_error, E' \t\r\n'), 8000);
begin
  if v like 'Traceback (%' then
    v := coalesce(substring(v from E'^[^\n]*\n(?:[ \t][^\n]*\n)*([^\n]+)'), v);
  else
    v := regexp_replace(v, E'^([^\n]+:)[ \t\r]*\n[ \t\r\n]*', E'\\1 ');
  end if;
  -- The characters 1 and 2 are ours below: they mark what is to stay.
  v := translate(left(split_part(v, E'\n', 1), 500), E'\001\002\t\r\f\013', '      ');
  v := btrim(regexp_replace(v, ' {2,}', ' ', 'g'));
  if v ~ '["'']' then
    v := regexp_replace(v, '([{,] ?)"(error|errors|code|message|msg|type|reason|status|title|detail|description|name|kind)" ?: ?"([^"]*)"',
                        E'\\1\\2: \\3', 'gi');
    v := regexp_replace(v, '([{,] ?)"([A-Za-z_][0-9A-Za-z_.-]*)" ?:', E'\\1\\2:', 'g');
    v := regexp_replace(v, '((?:constraint|relation|column|table|function|index|type|schema|database|parameter|argument|field|property'
                           '|attribute|module|class|method|named|reading|for key|KeyError:) )["'']([A-Za-z_][0-9A-Za-z_.$]*)["'']',
                        E'\\1\001\\2\002', 'gi');
    -- An apostrophe within a word opens nothing.
    v := regexp_replace(v, E'"(?:[^"\\\\]|\\\\.)*"|(?<![0-9A-Za-z])[bruf]?''[^'']*''(?![0-9A-Za-z])', '<v>', 'g');
    v := translate(v, E'\001\002', '""');
  end if;
  if position('://' in v) > 0 then
    v := regexp_replace(v, '://[^ /?@]+@', '://<v>@', 'g');
    v := regexp_replace(v, '(://[^ ?]*)[?][^ ]*', E'\\1?<v>', 'g');
  end if;
  if position('@' in v) > 0 then
    v := regexp_replace(v, '[0-9A-Za-z._%+-]+@[0-9A-Za-z-]+(?:[.][0-9A-Za-z-]+)+', '<email>', 'g');
  end if;
  v := regexp_replace(v, '(?<![0-9A-Za-z:.])(?:[0-9a-fA-F]{1,4}:){5,7}[0-9a-fA-F]{1,4}(?![0-9A-Za-z:])'
                         '|(?<![0-9A-Za-z:.])(?=[0-9a-fA-F:]*[0-9])(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*)?::(?:[0-9a-fA-F]{1,4}:)*[0-9a-fA-F]{0,4}(?![0-9A-Za-z:])'
                         '|(?<![0-9A-Za-z.])[0-9]{1,3}(?:[.][0-9]{1,3}){3}(?![0-9A-Za-z])', '<ip>', 'g');
  if v ~ '[0-9]' then
    -- First of all, since parts of a UUID look like other things.
    v := regexp_replace(v, '(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z])',
                        '<id>', 'g');
    v := regexp_replace(v, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?'
                           '|(?<![0-9A-Za-z:.])[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?![0-9A-Za-z:])'
                           '|(?<![0-9A-Za-z.-])(?:[0-9]+(?:[.][0-9]+)?(?:ns|us|ms|s|m|h|d))+(?![0-9A-Za-z-])', '<time>', 'g');
    -- Hex of eight and more, words in which letters and digits take turns, long words with several digits.
    v := regexp_replace(v, '(?<![0-9A-Za-z])(?:0x[0-9a-fA-F]+'
                           '|(?=[0-9a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{8,}'
                           '|(?=[0-9A-Za-z]*[0-9][A-Za-z]+[0-9]+[A-Za-z])[0-9A-Za-z]{5,}'
                           '|(?=[A-Za-z]*[0-9][A-Za-z]*[0-9][A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[0-9A-Za-z]{16,}'
                           ')(?![0-9A-Za-z])', '<id>', 'g');
    -- Codes stay.
    v := regexp_replace(v, '(?<![0-9A-Za-z])(?:((?:(?:status|error|exit|response|result|return)[ _-]?code|exit[ _-]?status|os error|errno|SQLSTATE|ORA)[] :=(["''-]{1,4})([0-9]{1,5})'
                           '|((?:HTTP(?:/[0-9.]+)?|status|code|signal)[] :=(["'']{1,4})([0-9]{1,3}))(?![0-9A-Za-z]|[.][0-9])',
                        E'\\1\\3\001\\2\\4', 'gi');
    v := regexp_replace(v, '((?<![0-9A-Za-z.])[1-5][0-9]{2}(?=:? [A-Z][a-z]|[ -][0-9][.][0-9]{1,3}[.][0-9]| page not found| not found)'
                           '|(?<=[A-Za-z])[0-9]{1,2}(?=[A-Za-z]))', E'\001\\1', 'g');
    v := regexp_replace(v, E'(?<![\0010-9])[0-9]+(?:[.,][0-9]+)*', '<n>', 'g');
    v := replace(v, E'\001', '');
  end if;
  return left(v, 200);
end
$queuetop$;

-- How many dead letters each queue has with which signature.
--
--   dead_letter_jobs --statement triggers--> signature_deltas (append only) --fold_signatures()--> signature_counts
--
-- As with the counters (V3): writers only append, so they never wait for each other here, and a reader adds both in one
-- snapshot. No key on what strangers wrote: it may be longer than a B-tree takes, and nothing here may stop a job from dying.
create table {schema}.signature_counts (
  queue text not null,
  signature text not null,
  dead bigint not null,                                 -- dead letters, replayed or not
  replayed bigint not null,                             -- of those, how many were replayed
  first_seen timestamptz,                               -- of all that were counted, pruned ones included
  last_seen timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);
create index signature_counts_signature_idx on {schema}.signature_counts using hash (signature);

-- What one statement changed. Deleted when folded.
create table {schema}.signature_deltas (
  queue text not null,
  signature text not null,
  dead integer not null,
  replayed integer not null,
  first_seen timestamptz,
  last_seen timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

-- Who folds holds this row; one row.
create table {schema}.signature_fold (
  only_row boolean primary key default true check (only_row),
  folded_at timestamptz not null default '-infinity',
  suspect boolean not null default false                -- there are rows that were never counted: recount_signatures() is due
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
insert into {schema}.signature_fold default values;

-- Folds a bounded step, every two seconds at most. Never waits, never raises; not in REPEATABLE READ or above and not in a
-- transaction that is already long, as in V9.
create function {schema}.fold_signatures() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_limit constant integer := 2000;
  v_taken bigint;
  v_emptied text[];
begin
  if current_setting('transaction_isolation') <> 'read committed' or clock_timestamp() - now() > interval '1 second'
    or exists (select from {schema}.signature_fold f
               where f.folded_at between clock_timestamp() - interval '2 seconds' and clock_timestamp() + interval '2 seconds') then
    return;
  end if;
  begin
    perform from {schema}.signature_fold f for update skip locked;
    if not found then return; end if;
    with gone as (
      delete from {schema}.signature_deltas d
      where d.ctid = any(array(select w.ctid from {schema}.signature_deltas w limit v_limit))
      returning d.*
    ), sums as materialized (
      select queue, signature, sum(dead) as dead, sum(replayed) as replayed, min(first_seen) as first_seen, max(last_seen) as last_seen
      from gone group by queue, signature
    ), changed as (
      update {schema}.signature_counts c
      set dead = c.dead + s.dead, replayed = c.replayed + s.replayed,
          first_seen = least(c.first_seen, s.first_seen), last_seen = greatest(c.last_seen, s.last_seen)
      from sums s
      where c.signature = s.signature and c.queue = s.queue
      returning c.queue, c.signature, c.dead, c.replayed
    ), added as (
      insert into {schema}.signature_counts (queue, signature, dead, replayed, first_seen, last_seen)
      select * from sums s
      where not exists (select from changed c where c.queue = s.queue and c.signature = s.signature)
        and (s.dead <> 0 or s.replayed <> 0)
    )
    select (select count(*) from gone), (select array_agg(distinct c.signature) from changed c where c.dead = 0 and c.replayed = 0)
    into v_taken, v_emptied;
    delete from {schema}.signature_counts c where c.signature = any(v_emptied) and c.dead = 0 and c.replayed = 0;
    -- Where more is waiting, the next call goes on at once.
    update {schema}.signature_fold f set folded_at = case when v_taken < v_limit then clock_timestamp() else '-infinity' end;
  exception when others then
    raise log 'queuetop: folding the counts of signatures failed: % (%)', sqlerrm, sqlstate;
  end;
end $queuetop$;

create function {schema}.count_signatures() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
begin
  if tg_op = 'INSERT' then
    insert into {schema}.signature_deltas
    select n.queue, coalesce(n.signature, {schema}.error_signature(n.last_error), ''), count(*), count(n.replayed_at),
           min(n.failed_at), max(n.failed_at)
    from new_dead n group by 1, 2;
  elsif tg_op = 'DELETE' then
    insert into {schema}.signature_deltas
    select o.queue, coalesce(o.signature, {schema}.error_signature(o.last_error), ''), -count(*), -count(o.replayed_at), null, null
    from old_dead o group by 1, 2;
  else
    insert into {schema}.signature_deltas
    select queue, signature, sum(n), sum(replayed), min(failed_at) filter (where n > 0), max(failed_at) filter (where n > 0)
    from (
      select o.queue, coalesce(o.signature, {schema}.error_signature(o.last_error), '') as signature, -1 as n,
             case when o.replayed_at is null then 0 else -1 end as replayed, o.failed_at
      from old_dead o
      union all
      select n.queue, coalesce(n.signature, {schema}.error_signature(n.last_error), ''), 1,
             case when n.replayed_at is null then 0 else 1 end, n.failed_at
      from new_dead n
    ) as rows
    group by queue, signature
    having sum(n) <> 0 or sum(replayed) <> 0
      or min(failed_at) filter (where n > 0) < min(failed_at) filter (where n < 0)
      or max(failed_at) filter (where n > 0) > max(failed_at) filter (where n < 0);
  end if;
  if found then
    perform {schema}.fold_signatures();
  end if;
  return null;
end $queuetop$;

-- All writers of the table are shut out, so nothing that is counted is left uncommitted by anybody else.
create function {schema}.count_signatures_truncated() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
begin
  truncate {schema}.signature_deltas, {schema}.signature_counts;
  return null;
end $queuetop$;

create trigger dead_letter_jobs_signatures_inserted after insert on {schema}.dead_letter_jobs
  referencing new table as new_dead for each statement execute function {schema}.count_signatures();
create trigger dead_letter_jobs_signatures_updated after update on {schema}.dead_letter_jobs
  referencing old table as old_dead new table as new_dead for each statement execute function {schema}.count_signatures();
create trigger dead_letter_jobs_signatures_deleted after delete on {schema}.dead_letter_jobs
  referencing old table as old_dead for each statement execute function {schema}.count_signatures();
create trigger dead_letter_jobs_signatures_truncated after truncate on {schema}.dead_letter_jobs
  for each statement execute function {schema}.count_signatures_truncated();

-- Counts again, and says what was wrong: how many dead letters a signature was thought to have, and has. Reads every dead
-- letter and locks nobody out: truth and waiting deltas are read in one snapshot, and their difference is written.
create function {schema}.recount_signatures() returns table (queue text, signature text, counted bigint, truth bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
#variable_conflict use_column
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'recount_signatures() needs READ COMMITTED, this transaction is %', upper(current_setting('transaction_isolation'))
      using errcode = '25001', hint = 'Call it in a transaction of its own.';
  end if;
  perform from {schema}.signature_fold f for update; -- nobody folds until we are done
  return query
  with waiting as materialized (
    select queue, signature, sum(dead) as dead, sum(replayed) as replayed from {schema}.signature_deltas group by queue, signature
  ), real as materialized (
    select queue, signature, count(*) as dead, count(replayed_at) as replayed, min(failed_at) as first_seen, max(failed_at) as last_seen
    from (select d.queue, coalesce(d.signature, {schema}.error_signature(d.last_error), '') as signature, d.replayed_at, d.failed_at
          from {schema}.dead_letter_jobs d) as rows
    group by queue, signature
  ), wanted as materialized ( -- what must be folded so that it and the waiting deltas make the truth
    select queue, signature, (coalesce(r.dead, 0) - coalesce(w.dead, 0))::bigint as dead,
           (coalesce(r.replayed, 0) - coalesce(w.replayed, 0))::bigint as replayed, r.first_seen, r.last_seen
    from real r full join waiting w using (queue, signature)
  ), before as (
    delete from {schema}.signature_counts c returning c.queue, c.signature, c.dead
  ), put as (
    insert into {schema}.signature_counts select * from wanted where dead <> 0 or replayed <> 0
  )
  select queue, signature, (coalesce(b.dead, 0) + coalesce(w.dead, 0))::bigint, coalesce(r.dead, 0)
  from (select queue, signature, sum(dead) as dead from before group by queue, signature) as b
  full join real r using (queue, signature)
  left join waiting w using (queue, signature)
  where coalesce(b.dead, 0) + coalesce(w.dead, 0) <> coalesce(r.dead, 0)
  order by queue, signature;
  update {schema}.signature_fold f set suspect = false;
end $queuetop$;

-- Rows that are there already are counted when all of this is committed, since that reads them all.
update {schema}.signature_fold f set suspect = exists (select from {schema}.dead_letter_jobs);

-- The tables that are ours. Named, because the schema may hold other people's.
create or replace function {schema}.queuetop_tables() returns text[]
language sql immutable
as $queuetop$
  select array[
    'jobs', 'dead_letter_jobs', 'job_failures', 'operator_actions', 'queues', 'workers',
    'maintenance_runs', 'queue_settings', 'queuetop_migrations',
    'counter_deltas', 'job_counts', 'job_slots', 'queue_counters', 'queue_history', 'history_minutes',
    'counter_fold', 'signature_counts', 'signature_deltas', 'signature_fold'
  ]
$queuetop$;

-- The functions that are ours, and which role calls them: viewer, worker, operator, worker and
-- operator, everybody who reads, or only other functions.
create or replace function {schema}.queuetop_functions() returns table (name text, callers text[])
language sql immutable
as $queuetop$
  values
    ('enqueue_job', array['worker', 'operator']),
    ('enqueue_jobs', array['worker', 'operator']),
    ('claim_jobs', array['worker']),
    ('heartbeat_jobs', array['worker']),
    ('complete_job', array['worker']),
    ('retry_job', array['worker']),
    ('move_to_dead_letter', array['worker']),
    ('worker_seen', array['worker']),
    ('reap_expired_jobs', array['worker', 'operator']),
    ('operator_requeue', array['operator']),
    ('operator_dead_letter', array['operator']),
    ('operator_reap', array['operator']),
    ('operator_replay', array['operator']),
    ('operator_reschedule', array['operator']),
    ('operator_set_priority', array['operator']),
    ('operator_undo', array['operator']),
    ('pause_queue', array['operator']),
    ('resume_queue', array['operator']),
    ('prune_completed_jobs', array['operator']),
    ('prune_dead_letters', array['operator']),
    ('prune_history', array['operator']),
    ('recount_counters', array['operator']),
    ('recount_signatures', array['operator']),
    ('fold_counters_step', array['worker', 'operator']),
    ('job_state', array['viewer', 'operator']),
    ('error_signature', array['viewer', 'operator']),
    ('counter_drift', array['viewer', 'operator']),
    ('counter_floor', array['viewer', 'operator']),
    ('time_slot', array['viewer', 'operator']),
    ('duration_bucket', array['viewer', 'operator']),
    ('add_buckets', array['viewer', 'operator']),
    ('setting_number', array['viewer', 'operator']),
    ('queuetop_apply_rights', '{}'), ('queuetop_tables', '{}'), ('queuetop_functions', '{}'),
    ('check_between', '{}'), ('check_given', '{}'), ('check_lease', '{}'), ('check_queue', '{}'),
    ('check_jobs', '{}'), ('check_age', '{}'), ('operator_check_distinct', '{}'),
    ('record_failure', '{}'), ('note_claim', '{}'), ('sign_dead_letter', '{}'),
    ('note_maintenance', '{}'), ('note_fenced', '{}'), ('move_rows_to_dead_letter', '{}'),
    ('reap_rows', '{}'), ('job_record', '{}'), ('dead_letter_record', '{}'), ('operator_targets', '{}'),
    ('operator_fence_holds', '{}'), ('operator_refusal', '{}'), ('operator_lock', '{}'), ('operator_look', '{}'),
    ('operator_chosen', '{}'), ('operator_finish', '{}'), ('operator_record', '{}'), ('operator_look_undo', '{}'),
    ('operator_restore', '{}'), ('operator_set_paused', '{}'),
    ('count_jobs_inserted', '{}'), ('count_jobs_deleted', '{}'), ('count_jobs_updated', '{}'),
    ('count_dead_letters', '{}'), ('count_failure', '{}'), ('count_truncated', '{}'),
    ('fold_deltas', '{}'), ('sample_depths', '{}'), ('notify_changed', '{}'),
    ('notify_queues_changed', '{}'),
    ('count_signatures', '{}'), ('fold_signatures', '{}'), ('count_signatures_truncated', '{}')
$queuetop$;

select {schema}.queuetop_apply_rights();
