-- Queued jobs from queue to queue and from priority to priority, as the claim index keeps them: within each, a condition on run_at
-- is one range. A queue and priority without such a row gives one empty row, so that it counts as looked at.
with recursive queues (queue) as (
  {queues}
)
select {row}, case when j.id is null then false else j.matches end as matches
from queues q
cross join lateral (
  with recursive priorities (priority) as (
    (select p.priority from {schema}.jobs p where {base} and p.queue = q.queue{below} order by p.priority desc limit 1)
    union all
    select n.priority from priorities b cross join lateral (
      select p.priority from {schema}.jobs p where {base} and p.queue = q.queue and p.priority < b.priority
      order by p.priority desc limit 1) n
  )
  select priority from priorities
) p
left join lateral (
  select {columns}, {matches} as matches
  from {schema}.jobs j
  where {rows} and j.queue = q.queue and j.priority = p.priority{pairs}
  order by {order} limit {window}
) j on true
