-- Every way in which the counters differ from the tables; no row when all is right.
with live as (
  select queue, status, attempts, max_attempts,
         time_slot(case when status = 'queued' then run_at else lease_until end) as slot
  from jobs where status in ('queued', 'running')
), counted as (
  select queue, status, attempts, max_attempts, sum(n) as n from (
    select queue, status, attempts, max_attempts, n from job_counts
    union all
    select queue, status, attempts, max_attempts, n from counter_deltas where status in ('queued', 'running')) as parts
  group by 1, 2, 3, 4 having sum(n) <> 0
), real as (
  select queue, status, attempts, max_attempts, count(*) as n from live group by 1, 2, 3, 4
), counted_slots as (
  select queue, status, slot, sum(n) as n from (
    select queue, status, slot, n from job_slots
    union all
    select queue, status, slot, n from counter_deltas
    where status = 'running' or (status = 'queued' and attempts < max_attempts)) as parts
  group by 1, 2, 3 having sum(n) <> 0
), real_slots as (
  select queue, status, slot, count(*) as n from live
  where status = 'running' or (status = 'queued' and attempts < max_attempts) group by 1, 2, 3
), counted_dead as (
  select queue, status, sum(n) as n from (
    select queue, 'dead' as status, dead_rows as n from queue_counters
    union all select queue, 'replayed', replayed_rows from queue_counters
    union all select queue, status, n from counter_deltas where status in ('dead', 'replayed')) as parts
  group by 1, 2 having sum(n) <> 0
), real_dead as (
  select queue, case when replayed_at is null then 'dead' else 'replayed' end as status, count(*) as n
  from dead_letter_jobs group by 1, 2
), due as (
  select queue, coalesce(sum(n) filter (where status = 'queued'), 0) as due,
         coalesce(sum(n) filter (where status = 'running'), 0) as lapsed
  from job_slots, counter_fold where slot < case status when 'queued' then mark else mark - interval '1 second' end group by queue
), minutes as (
  select queue, sum(enqueued) as enqueued, sum(claimed) as claimed, sum(claims) as claims, sum(completed) as completed,
         sum(retried) as retried, sum(expired) as expired, sum(dead) as dead, sum(fenced) as fenced
  from queue_history group by queue
)
select format('count %s', row(c.*, r.*)) from counted c full join real r using (queue, status, attempts, max_attempts)
where c.n is distinct from r.n
union all
select format('slot %s', row(c.*, r.*)) from counted_slots c full join real_slots r using (queue, status, slot)
where c.n is distinct from r.n
union all
select format('dead %s', row(c.*, r.*)) from counted_dead c full join real_dead r using (queue, status)
where c.n is distinct from r.n
union all
select format('due %s', row(q.queue, q.due, q.lapsed, d.*)) from queue_counters q left join due d using (queue)
where (q.due, q.lapsed) is distinct from (coalesce(d.due, 0), coalesce(d.lapsed, 0))
union all
select format('first slot of %s: %s, not %s', q.queue, q.first_slot, s.slot)
from queue_counters q
left join (select queue, min(slot) as slot from job_slots where status = 'queued' and n > 0 group by 1) as s using (queue)
where q.first_slot is distinct from s.slot
union all
select format('minutes %s', row(m.*, q.*)) from queue_counters q left join minutes m using (queue)
where (coalesce(m.enqueued, 0), coalesce(m.claimed, 0), coalesce(m.claims, 0), coalesce(m.completed, 0), coalesce(m.retried, 0),
       coalesce(m.expired, 0), coalesce(m.dead, 0), coalesce(m.fenced, 0))
      is distinct from (q.enqueued, q.claimed, q.claims, q.completed, q.retried, q.expired, q.dead, q.fenced)
