-- Folding and the poll do not depend on long transactions. `floor` stands still while any transaction with an id is open, in
-- any database of the server, and then every poll walks over all that was folded since: dead index entries that nothing may
-- remove meanwhile. So the fold also remembers where its snapshot ended and who was at work below that: a delta that is not
-- folded is at or above `top`, or of one of `open`. `floor` stays, lower and true, for readers that need not be fast.
alter table {schema}.counter_fold
  add column top bigint not null default 0,             -- every delta below it is folded, but for those of
  add column open bigint[] not null default '{}';       -- these transactions, the fold's own among them: it may go on writing
update {schema}.counter_fold set top = floor;

-- Folds at most p_limit deltas; true when more are waiting. The caller holds the row of counter_fold and is in READ
-- COMMITTED: every statement must see what the fold before it left.
create or replace function {schema}.fold_deltas(p_mark timestamptz, p_limit integer) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $queuetop$
declare
  v_mark timestamptz := {schema}.time_slot(clock_timestamp()) + interval '1 second';
  v_taken bigint;
  v_floor bigint := {schema}.counter_floor();
  v_top bigint;
  v_open bigint[];
  v_emptied boolean;
begin
  select case when f.top > txid_snapshot_xmax(txid_current_snapshot()) then 0 else f.top end,
         case when f.top > txid_snapshot_xmax(txid_current_snapshot()) then '{}' else f.open end
  into v_top, v_open from {schema}.counter_fold f;
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
    where d.ctid = any(array(
      select place
      from ((select w.ctid as place, w.txid from {schema}.counter_deltas w where w.txid = any(v_open) order by w.txid limit p_limit)
            union all
            (select w.ctid, w.txid from {schema}.counter_deltas w where w.txid >= v_top order by w.txid limit p_limit)) as waiting
      order by txid limit p_limit))
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
  -- Of one snapshot: what was taken, and who was still at work. More than p_limit: what is left begins at the last one taken.
  select count(*), least(txid_snapshot_xmin(txid_current_snapshot()), case when count(*) >= p_limit then max(txid) end),
         least(txid_snapshot_xmax(txid_current_snapshot()), case when count(*) >= p_limit then max(txid) end),
         array(select w from txid_snapshot_xip(txid_current_snapshot()) as w union select txid_current())
  into v_taken, v_floor, v_top, v_open from gone;
  update {schema}.counter_fold
  set floor = v_floor, top = v_top, open = array(select w from unnest(v_open) as w where w < v_top),
      mark = v_mark, folded_at = clock_timestamp();
  return v_taken >= p_limit;
end $queuetop$;

select {schema}.queuetop_apply_rights();
