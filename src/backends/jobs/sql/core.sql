-- The core numbers of a frame from the counters (migrations V3, V9): totals and the deltas that are not folded yet, in one
-- snapshot. Reads neither jobs nor dead_letter_jobs. A row for each queue, or one row without a queue.
--
-- The deltas are summed in one pass, per queue and attempts, with integer sums; what is looked up per queue stands in
-- subqueries, so that it is a few index entries each, whatever the planner thinks of the tables' sizes.
with clock as materialized (
  select at, {schema}.time_slot(at) as slot, f.mark, f.suspect,
         -- due, lapsed and first_slot hold no more after a TRUNCATE under an old snapshot
         not exists (select from {schema}.counter_deltas e where e.event = 'emptied') as due_holds
  from {schema}.counter_fold f, (select clock_timestamp() as at) as now
), waiting as materialized (
  select d.queue, d.status, case when d.status in ('queued', 'running') then d.attempts else 0 end as attempts, d.max_attempts,
         d.n, d.event, d.events, d.again, d.slot,
         d.status = 'queued' and d.attempts < d.max_attempts as claimable,
         case when d.status = 'queued' then d.slot <= (select slot from clock) else d.slot < (select slot from clock) end as due
  from {waiting} d
  where d.event is null or d.event not in ('suspect', 'emptied')
), waiting_sums as materialized (
  select queue, attempts,
         sum(n) filter (where claimable) as queued,
         sum(n) filter (where claimable and due) as ready,
         sum(n) filter (where status = 'queued' and not claimable) as exhausted,
         sum(n) filter (where status = 'running') as running,
         sum(n) filter (where status = 'running' and due) as expired,
         sum(n) filter (where (status = 'queued' and attempts = max_attempts - 1)
                           or (status = 'running' and attempts >= max_attempts)) as last_attempt,
         max(max_attempts) filter (where status in ('queued', 'running')) as max_attempts,
         sum(events) filter (where event = 'enqueued') as enqueued,
         sum(events) filter (where event = 'moved') as moved,
         sum(again) as again,
         sum(events) filter (where event = 'completed') as completed,
         sum(events) filter (where event in ('retried', 'expired')) as retried,
         sum(events) filter (where event = 'dead') as dead,
         sum(n) filter (where status in ('dead', 'replayed')) as dead_rows
  from waiting group by queue, attempts
), waiting_slots as materialized (
  select queue, array_agg(slot order by slot) as slots, array_agg(n order by slot) as ns,
         min(slot) filter (where n > 0) as first_slot
  from (select queue, slot, sum(n) as n from waiting where claimable and due group by queue, slot) as slots
  where n <> 0 group by queue
), by_attempts as materialized (
  select queue, attempts, sum(queued) as queued, sum(ready) as ready, sum(exhausted) as exhausted, sum(running) as running,
         sum(expired) as expired, sum(last_attempt) as last_attempt, max(max_attempts) as max_attempts
  from (
    select queue, attempts,
           case when status = 'queued' and attempts < max_attempts then n else 0 end as queued,
           0 as ready,
           case when status = 'queued' and attempts >= max_attempts then n else 0 end as exhausted,
           case when status = 'running' then n else 0 end as running,
           0 as expired,
           case when (status = 'queued' and attempts = max_attempts - 1)
                  or (status = 'running' and attempts >= max_attempts) then n else 0 end as last_attempt,
           case when n <> 0 then max_attempts end as max_attempts
    from {schema}.job_counts
    union all
    select queue, attempts, queued, ready, exhausted, running, expired, last_attempt, max_attempts from waiting_sums
  ) as parts
  group by queue, attempts
), states as (
  select queue, coalesce(sum(queued), 0) as queued, coalesce(sum(ready), 0) as ready, coalesce(sum(exhausted), 0) as exhausted,
         coalesce(sum(running), 0) as running, coalesce(sum(expired), 0) as expired,
         coalesce(sum(last_attempt), 0) as last_attempt,
         max(max_attempts) filter (where live > 0) as max_attempts,
         array_agg(attempts order by attempts) filter (where live > 0) as attempts,
         array_agg(live order by attempts) filter (where live > 0) as attempts_jobs
  from (select *, (coalesce(queued, 0) + coalesce(exhausted, 0) + coalesce(running, 0))::bigint as live from by_attempts) as sums
  group by queue
), totals as (
  select queue, sum(enqueued)::bigint as enqueued, sum(claimed)::bigint as claimed, sum(completed)::bigint as completed,
         sum(retried)::bigint as retried, sum(dead)::bigint as dead, sum(dead_rows)::bigint as dead_rows,
         min(first_slot) as first_slot, sum(due) as due, sum(lapsed) as lapsed
  from (
    select queue, enqueued, claimed, completed, retried + expired as retried, dead, dead_rows + replayed_rows as dead_rows,
           first_slot, due, lapsed
    from {schema}.queue_counters
    union all
    select queue, coalesce(enqueued, 0), coalesce(moved, 0) + again, coalesce(completed, 0), coalesce(retried, 0),
           coalesce(dead, 0), coalesce(dead_rows, 0), null, 0, 0
    from waiting_sums
  ) as parts
  group by queue
), passed as ( -- slots that the clock went over since the last fold
  select queue, sum(n) filter (where status = 'queued') as due, sum(n) filter (where status = 'running') as lapsed
  from {schema}.job_slots
  where slot >= (select mark - interval '1 second' from clock) and slot <= (select slot from clock)
    and case when status = 'queued' then slot >= (select mark from clock) else slot < (select slot from clock) end
  group by queue
), paused as (
  {paused}
), queues as (
  select t.*, p.paused,
         case when clock.due_holds then t.due else 0 end + coalesce(r.due, 0) as folded_due,
         case when clock.due_holds then t.lapsed else 0 end + coalesce(r.lapsed, 0) as folded_lapsed,
         w.first_slot as fresh_slot,
         case when w.queue is null then case when clock.due_holds and t.first_slot <= clock.slot then t.first_slot end
              else ( -- the first that what waits has not emptied
           select s.slot from {schema}.job_slots s
           left join unnest(w.slots, w.ns) as x (slot, n) on x.slot = s.slot
           where s.queue = t.queue and s.status = 'queued' and s.slot >= t.first_slot and s.slot <= clock.slot
             and s.n + coalesce(x.n, 0) > 0
           order by s.slot limit 1) end as folded_slot
  from clock
  cross join totals t
  left join passed r on r.queue = t.queue
  left join waiting_slots w on w.queue = t.queue
  left join paused p on p.queue = t.queue
)
select clock.at, ({reaper}) as reaper_last, clock.suspect, q.queue, q.paused,
       (s.ready + q.folded_due)::bigint as ready,
       (s.queued - s.ready - q.folded_due)::bigint as scheduled,
       (s.running - s.expired - q.folded_lapsed)::bigint as running,
       (s.expired + q.folded_lapsed)::bigint as expired,
       s.exhausted::bigint, s.last_attempt::bigint, s.max_attempts, s.attempts, s.attempts_jobs,
       least(q.fresh_slot, q.folded_slot) as oldest_slot,
       q.enqueued, q.claimed, q.completed, q.retried, q.dead, q.dead_rows
from clock
left join queues q on true
left join states s on s.queue = q.queue
