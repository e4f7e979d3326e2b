-- Minutes of every queue since $1, up to the last complete one: what happened, and the depth at the minute's start where it was
-- sampled. Rows without a queue name the minutes in which depths were sampled.
with waiting as (
  select to_timestamp(floor(date_part('epoch', d.at) / 60) * 60) as minute, d.queue, d.event, d.events, d.again
  from {schema}.counter_deltas d
  where d.txid >= (select {schema}.counter_floor()) and d.event <> 'suspect'
)
select minute, queue, sum(enqueued)::bigint as enqueued, sum(claimed)::bigint as claimed, sum(completed)::bigint as completed,
       sum(retried)::bigint as retried, sum(dead)::bigint as dead, sum(depth)::bigint as depth
from (
  select h.minute, h.queue, h.enqueued, h.claimed, h.completed, h.retried + h.expired as retried, h.dead, h.ready + h.scheduled as depth
  from {schema}.queue_history h where h.minute >= $1
  union all
  select minute, queue, case when event = 'enqueued' then events else 0 end, case when event = 'moved' then events else 0 end + again,
         case when event = 'completed' then events else 0 end, case when event in ('retried', 'expired') then events else 0 end,
         case when event = 'dead' then events else 0 end, null
  from waiting where minute >= $1
) as parts
group by minute, queue
union all
select m.minute, null, null, null, null, null, null, null from {schema}.history_minutes m where m.minute >= $1
order by 1
