-- Folding: what the counters' triggers appended (V3) is summed up, a step at a time. And the ways back to the truth.

create function {schema}.add_buckets(a integer[], b integer[]) returns integer[]
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $queuetop$
  select case when a is null then b when b is null then a
         else (select array_agg(coalesce(x, 0) + coalesce(y, 0) order by i)
               from unnest(a, b) with ordinality as both_of (x, y, i)) end
$queuetop$;

-- Where reading the deltas begins: what lies below is folded. In a database restored into another server transactions count from
-- elsewhere, and then everything is read.
create function {schema}.counter_floor() returns bigint
language sql stable set search_path = pg_catalog, pg_temp as $queuetop$
  select case when f.floor > txid_snapshot_xmin(txid_current_snapshot()) then 0 else f.floor end from {schema}.counter_fold f
$queuetop$;

-- Folds at most p_limit deltas; true when more are waiting. The caller holds the row of counter_fold and is in READ
-- COMMITTED: every statement must see what the fold before it left.
create function {schema}.fold_deltas(p_mark timestamptz, p_limit integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_mark timestamptz := {schema}.time_slot(clock_timestamp()) + interval '1 second';
  v_taken bigint;
  v_floor bigint := {schema}.counter_floor();
  v_emptied boolean;
begin
  if exists (select from {schema}.counter_deltas d where d.txid >= v_floor and d.event in ('suspect', 'emptied')) then
    -- What a TRUNCATE under an old snapshot left; see count_truncated().
    with told as (
      delete from {schema}.counter_deltas d where d.txid >= v_floor and d.event in ('suspect', 'emptied') returning d.event
    )
    select bool_or(event = 'emptied') into v_emptied from told;
    if v_emptied then
      update {schema}.queue_counters set due = 0, lapsed = 0, first_slot = null;
    end if;
    update {schema}.counter_fold set suspect = true;
  end if;
  with gone as (
    delete from {schema}.counter_deltas d
    where d.ctid = any(array(select w.ctid from {schema}.counter_deltas w where w.txid >= v_floor order by w.txid limit p_limit))
    returning d.*
  ), slots as materialized (
    select g.queue, g.status, g.slot, g.n, g.n + coalesce((
             select o.n from {schema}.job_slots o
             where o.queue = g.queue and o.status = g.status and o.slot = g.slot), 0) as left_over
    from (select queue, status, slot, sum(n) as n from gone
          where status = 'running' or (status = 'queued' and attempts < max_attempts)
          group by queue, status, slot having sum(n) <> 0) as g
  ), emptied as (
    delete from {schema}.job_slots s using slots g
    where g.left_over = 0 and s.queue = g.queue and s.status = g.status and s.slot = g.slot
  ), filled as (
    insert into {schema}.job_slots as s (queue, status, slot, n)
    select queue, status, slot, n from slots where left_over <> 0
    on conflict (queue, status, slot) do update set n = s.n + excluded.n
  ), passed as ( -- what came to be due: slots that the clock went over since the last fold (either way), as they stood before
    -- this one, and what this one brings
    select queue, coalesce(sum(n) filter (where status = 'queued'), 0) as due,
           coalesce(sum(n) filter (where status = 'running'), 0) as lapsed
    from (
      select queue, status, case when v_mark >= p_mark then n else -n end as n from {schema}.job_slots
      where slot >= least(p_mark, v_mark) - interval '1 second' and slot < greatest(p_mark, v_mark)
        and case when status = 'queued' then slot >= least(p_mark, v_mark)
                 else slot < greatest(p_mark, v_mark) - interval '1 second' end
      union all
      select queue, status, n from slots
      where slot < case when status = 'queued' then v_mark else v_mark - interval '1 second' end
    ) as parts
    group by queue
  ), counts as (
    insert into {schema}.job_counts as c (queue, status, attempts, max_attempts, n)
    select queue, status, attempts, max_attempts, sum(n) from gone where status in ('queued', 'running')
    group by queue, status, attempts, max_attempts having sum(n) <> 0
    on conflict (queue, status, attempts, max_attempts) do update set n = c.n + excluded.n
  ), events as (
    select *, to_timestamp(floor(date_part('epoch', at) / 60) * 60) as minute from gone where event is not null
  ), claims as ( -- the rows of one statement share its time
    select queue, minute, count(*) as n
    from (select queue, minute, at from events where event = 'moved' group by queue, minute, at having sum(events) > 0) as statements
    group by queue, minute
  ), sums as (
    select g.queue,
           coalesce(sum(g.events) filter (where g.event = 'enqueued'), 0) as enqueued,
           coalesce(sum(g.events) filter (where g.event = 'moved'), 0) + sum(g.again) as claimed,
           coalesce((select sum(c.n) from claims c where c.queue = g.queue), 0) as claims,
           coalesce(sum(g.events) filter (where g.event = 'completed'), 0) as completed,
           coalesce(sum(g.events) filter (where g.event = 'retried'), 0) as retried,
           coalesce(sum(g.events) filter (where g.event = 'expired'), 0) as expired,
           coalesce(sum(g.events) filter (where g.event = 'dead'), 0) as dead,
           coalesce(sum(g.events) filter (where g.event = 'fenced'), 0) as fenced,
           coalesce(sum(g.n) filter (where g.status = 'dead'), 0) as dead_rows,
           coalesce(sum(g.n) filter (where g.status = 'replayed'), 0) as replayed_rows,
           least((select min(t.slot) from slots t where t.queue = g.queue and t.status = 'queued' and t.left_over > 0),
                 (select o.slot from {schema}.job_slots o
                  where o.queue = g.queue and o.status = 'queued' and o.n > 0
                    and o.slot >= (select q.first_slot from {schema}.queue_counters q where q.queue = g.queue)
                    and o.slot <> all(array(select t.slot from slots t where t.queue = g.queue and t.status = 'queued'))
                  order by o.slot limit 1)) as first_slot
    from gone g group by g.queue
  ), added as (
    insert into {schema}.queue_counters as q
      (queue, enqueued, claimed, claims, completed, retried, expired, dead, fenced, dead_rows, replayed_rows, first_slot, due, lapsed)
    select s.*, coalesce(p.due, 0), coalesce(p.lapsed, 0) from sums s left join passed p using (queue)
    on conflict (queue) do update set
      enqueued = q.enqueued + excluded.enqueued, claimed = q.claimed + excluded.claimed, claims = q.claims + excluded.claims,
      completed = q.completed + excluded.completed, retried = q.retried + excluded.retried, expired = q.expired + excluded.expired,
      dead = q.dead + excluded.dead, fenced = q.fenced + excluded.fenced,
      dead_rows = q.dead_rows + excluded.dead_rows, replayed_rows = q.replayed_rows + excluded.replayed_rows,
      first_slot = excluded.first_slot, due = q.due + excluded.due, lapsed = q.lapsed + excluded.lapsed,
      touched_at = clock_timestamp()
  ), ripened as ( -- queues where nothing happened but that time passed
    update {schema}.queue_counters q set due = q.due + p.due, lapsed = q.lapsed + p.lapsed
    from passed p
    where p.queue = q.queue and (p.due <> 0 or p.lapsed <> 0) and not exists (select from sums s where s.queue = q.queue)
  ), took as (
    select queue, minute, bucket::integer as bucket, sum(events) as n from events
    where event = 'completed' and bucket is not null group by queue, minute, bucket
  ), buckets as (
    select tops.queue, tops.minute, array_agg(coalesce(took.n, 0)::integer order by i) as durations
    from (select queue, minute, max(bucket) as top from took group by queue, minute) as tops
    cross join lateral generate_series(0, tops.top) as i
    left join took on took.queue = tops.queue and took.minute = tops.minute and took.bucket = i
    group by tops.queue, tops.minute
  ), history as (
    insert into {schema}.queue_history as h
      (minute, queue, enqueued, claimed, claims, completed, retried, expired, dead, fenced, durations)
    select e.minute, e.queue,
           coalesce(sum(e.events) filter (where e.event = 'enqueued'), 0),
           coalesce(sum(e.events) filter (where e.event = 'moved'), 0) + sum(e.again),
           coalesce((select c.n from claims c where c.queue = e.queue and c.minute = e.minute), 0),
           coalesce(sum(e.events) filter (where e.event = 'completed'), 0),
           coalesce(sum(e.events) filter (where e.event = 'retried'), 0),
           coalesce(sum(e.events) filter (where e.event = 'expired'), 0),
           coalesce(sum(e.events) filter (where e.event = 'dead'), 0),
           coalesce(sum(e.events) filter (where e.event = 'fenced'), 0),
           (select b.durations from buckets b where b.queue = e.queue and b.minute = e.minute)
    from events e group by e.minute, e.queue
    on conflict (minute, queue) do update set
      enqueued = h.enqueued + excluded.enqueued, claimed = h.claimed + excluded.claimed, claims = h.claims + excluded.claims,
      completed = h.completed + excluded.completed, retried = h.retried + excluded.retried, expired = h.expired + excluded.expired,
      dead = h.dead + excluded.dead, fenced = h.fenced + excluded.fenced,
      durations = {schema}.add_buckets(h.durations, excluded.durations)
  )
  select count(*), least(txid_snapshot_xmin(txid_current_snapshot()), case when count(*) >= p_limit then max(txid) end)
  into v_taken, v_floor from gone;
  update {schema}.counter_fold set floor = v_floor, mark = v_mark, folded_at = clock_timestamp();
  return v_taken >= p_limit;
end $queuetop$;

-- Once a minute, by the fold: the depth of every queue, and what is too old is dropped.
create function {schema}.sample_depths(p_minute timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_oldest timestamptz := p_minute - make_interval(days => {schema}.setting_number('history_days', 7, 1, 400));
begin
  insert into {schema}.history_minutes values (p_minute) on conflict do nothing;
  insert into {schema}.queue_history as h (minute, queue, ready, scheduled, running)
  select p_minute, q.queue, q.due, coalesce(c.queued, 0) - q.due, coalesce(c.running, 0)
  from {schema}.queue_counters q
  left join (select queue, sum(n) filter (where status = 'queued' and attempts < max_attempts) as queued,
                    sum(n) filter (where status = 'running') as running
             from {schema}.job_counts group by queue) as c using (queue)
  where c.queued <> 0 or c.running <> 0
  on conflict (minute, queue) do update set ready = excluded.ready, scheduled = excluded.scheduled, running = excluded.running;
  delete from {schema}.queue_history h where h.ctid = any(array(
    select o.ctid from {schema}.queue_history o where o.minute < v_oldest order by o.minute limit 5000));
  delete from {schema}.history_minutes where minute < v_oldest;
  delete from {schema}.job_counts where n = 0;
  delete from {schema}.queue_counters q
  where q.touched_at < v_oldest and q.dead_rows = 0 and q.replayed_rows = 0
    and not exists (select from {schema}.job_counts c where c.queue = q.queue);
  update {schema}.counter_fold set sampled_minute = p_minute;
end $queuetop$;

-- Called by claim, complete and the reaper when their own work is done. Costs a look at a sequence most of the time,
-- folds a bounded step every fold_every_ms, never waits, never raises. Not in REPEATABLE READ or above (it would fail
-- there), and not in a transaction that is already long: what it folds stays locked until the end of it.
create function {schema}.fold_counters_step() returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_now bigint := floor(date_part('epoch', clock_timestamp()) * 1000);
  v_minute timestamptz;
  v_fold {schema}.counter_fold;
begin
  if abs(v_now + 30000 - pg_sequence_last_value(format('%I.fold_clock', {schema_literal})::regclass)) < 30000
    or current_setting('transaction_isolation') <> 'read committed'
    or clock_timestamp() - now() > interval '1 second' then
    return;
  end if;
  begin
    select * into v_fold from {schema}.counter_fold f for update skip locked;
    if not found then return; end if;
    perform setval(format('%I.fold_clock', {schema_literal}),
                   v_now + {schema}.setting_number('fold_every_ms', 2000, 100, 60000));
    if {schema}.fold_deltas(v_fold.mark, 2000) then
      perform setval(format('%I.fold_clock', {schema_literal}), v_now); -- more is waiting: the next call goes on
      return;
    end if;
    v_minute := to_timestamp(floor(date_part('epoch', clock_timestamp()) / 60) * 60);
    if v_fold.sampled_minute is distinct from v_minute then
      perform {schema}.sample_depths(v_minute);
    end if;
  exception when others then
    raise log 'queuetop: folding the counters failed: % (%)', sqlerrm, sqlstate;
  end;
end $queuetop$;

-- Compares the counters with the tables and mends them; one row for each figure that was wrong. Reads every row, so it is for
-- `doctor --recount` and for the start on tables with rows. Nobody is locked out: truth and waiting deltas are read in one
-- snapshot, and what is written is their difference, which holds whatever happens meanwhile.
create function {schema}.recount_counters() returns table (queue text, figure text, counted bigint, truth bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
#variable_conflict use_column
declare
  v_mark timestamptz := {schema}.time_slot(clock_timestamp()) + interval '1 second';
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'recount_counters() needs READ COMMITTED, this transaction is %', upper(current_setting('transaction_isolation'))
      using errcode = '25001', hint = 'Call it in a transaction of its own.';
  end if;
  perform from {schema}.counter_fold f for update; -- nobody folds until we are done
  return query
  with waiting as materialized (
    select queue, status, attempts, max_attempts, slot, sum(n) as n from {schema}.counter_deltas
    where status in ('queued', 'running', 'dead', 'replayed') group by queue, status, attempts, max_attempts, slot
  ), real as materialized (
    select queue, status, attempts, max_attempts, slot, count(*) as n
    from (select queue, status, attempts, max_attempts,
                 {schema}.time_slot(case when status = 'queued' then run_at else lease_until end) as slot
          from {schema}.jobs where status in ('queued', 'running')) as rows
    group by queue, status, attempts, max_attempts, slot
    union all
    select queue, case when replayed_at is null then 'dead' else 'replayed' end, 0, 0, '-infinity', count(*)
    from {schema}.dead_letter_jobs group by 1, 2
  ), wanted as materialized ( -- what must be folded so that it and the waiting deltas make the truth
    select queue, status, attempts, max_attempts, slot, sum(n) as n
    from (select * from real union all select queue, status, attempts, max_attempts, slot, -n from waiting) as parts
    group by queue, status, attempts, max_attempts, slot
  ), wanted_slots as materialized (
    select queue, status, slot, sum(n) as n from wanted
    where status = 'running' or (status = 'queued' and attempts < max_attempts)
    group by queue, status, slot having sum(n) <> 0
  ), wanted_counts as materialized (
    select queue, status, attempts, max_attempts, sum(n)::bigint as n from wanted
    where status in ('queued', 'running') group by queue, status, attempts, max_attempts
  ), wanted_queues as materialized (
    select names.queue, coalesce(d.dead, 0)::bigint as dead, coalesce(d.replayed, 0)::bigint as replayed, s.first_slot,
           coalesce(s.due, 0)::bigint as due, coalesce(s.lapsed, 0)::bigint as lapsed
    from (select queue from {schema}.queue_counters union select queue from wanted) as names
    left join (select queue, sum(n) filter (where status = 'dead') as dead, sum(n) filter (where status = 'replayed') as replayed
               from wanted group by queue) as d using (queue)
    left join (select queue, min(slot) filter (where status = 'queued' and n > 0) as first_slot,
                      sum(n) filter (where status = 'queued' and slot < v_mark) as due,
                      sum(n) filter (where status = 'running' and slot < v_mark - interval '1 second') as lapsed
               from wanted_slots group by queue) as s using (queue)
  ), put_counts as (
    insert into {schema}.job_counts as c select * from wanted_counts
    on conflict (queue, status, attempts, max_attempts) do update set n = excluded.n where c.n <> excluded.n
  ), drop_counts as (
    delete from {schema}.job_counts c where not exists (
      select from wanted_counts w where (w.queue, w.status, w.attempts, w.max_attempts) = (c.queue, c.status, c.attempts, c.max_attempts))
  ), put_slots as (
    insert into {schema}.job_slots as s select * from wanted_slots
    on conflict (queue, status, slot) do update set n = excluded.n where s.n <> excluded.n
  ), drop_slots as (
    delete from {schema}.job_slots s where not exists (
      select from wanted_slots w where (w.queue, w.status, w.slot) = (s.queue, s.status, s.slot))
  ), put_queues as (
    insert into {schema}.queue_counters as q (queue, dead_rows, replayed_rows, first_slot, due, lapsed)
    select * from wanted_queues
    on conflict (queue) do update
    set dead_rows = excluded.dead_rows, replayed_rows = excluded.replayed_rows, first_slot = excluded.first_slot,
        due = excluded.due, lapsed = excluded.lapsed
  ), counted as (
    select queue, status as figure, sum(n)::bigint as n from {schema}.job_counts group by queue, status
    union all -- due and lapsed by the present second, which is not that of the last fold
    select queue, case status when 'queued' then 'due' else 'lapsed' end, sum(n)::bigint from {schema}.job_slots
    where slot < case when status = 'queued' then v_mark else v_mark - interval '1 second' end group by queue, status
    union all select queue, 'dead', dead_rows from {schema}.queue_counters
    union all select queue, 'replayed', replayed_rows from {schema}.queue_counters
  ), right_ones as (
    select queue, status as figure, sum(n)::bigint as n from wanted_counts group by queue, status
    union all select queue, 'due', due from wanted_queues
    union all select queue, 'lapsed', lapsed from wanted_queues
    union all select queue, 'dead', dead from wanted_queues
    union all select queue, 'replayed', replayed from wanted_queues
  ), still_waiting as (
    select queue, status as figure, sum(n)::bigint as n from waiting group by queue, status
  )
  select queue, figure, coalesce(c.n, 0) + coalesce(w.n, 0), coalesce(r.n, 0) + coalesce(w.n, 0)
  from counted c full join right_ones r using (queue, figure) left join still_waiting w using (queue, figure)
  where coalesce(c.n, 0) <> coalesce(r.n, 0)
  order by queue, figure;
  delete from {schema}.counter_deltas d where d.event in ('suspect', 'emptied');
  update {schema}.counter_fold set suspect = false, mark = v_mark;
end $queuetop$;

-- One queue's counters beside its rows, reading at most p_cap of them a figure: the slow check of the dashboard and of doctor
-- (nothing counts under session_replication_role = replica or with the triggers disabled). Rows only where they differ.
create function {schema}.counter_drift(p_queue text, p_cap integer default 20000)
returns table (figure text, counted bigint, truth bigint)
language sql stable security definer set search_path = pg_catalog, pg_temp as $queuetop$
  with counted as (
    select status as figure, sum(n)::bigint as n
    from (select status, n from {schema}.job_counts where queue = p_queue and status in ('queued', 'running')
          union all
          select status, n from {schema}.counter_deltas
          where queue = p_queue and status in ('queued', 'running')
            and txid >= (select {schema}.counter_floor())) as parts
    group by status
  ), real as (
    select 'queued' as figure, (select count(*) from (
      select from {schema}.jobs where queue = p_queue and status = 'queued' limit p_cap) as rows) as n
    union all
    select 'running', (select count(*) from (
      select from {schema}.jobs where queue = p_queue and status = 'running' limit p_cap) as rows)
  )
  select figure, coalesce(c.n, 0), r.n from real r left join counted c using (figure)
  where (r.n < p_cap and coalesce(c.n, 0) <> r.n) or (r.n >= p_cap and coalesce(c.n, 0) < r.n)
$queuetop$;

-- The triggers have counted since V3. Rows that were there before are counted when all of this is committed, since counting reads
-- them all and the locks of a migration are not to be held that long.
update {schema}.counter_fold
set suspect = exists (select from {schema}.jobs) or exists (select from {schema}.dead_letter_jobs);
