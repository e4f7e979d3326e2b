-- What happened in every queue since $1, in spans of $2 seconds (whole minutes): sums, and the depth at the span's start where it was
-- sampled. Rows without a queue tell how many minutes of a span were sampled: of the others nothing is known.
with waiting as (
  select to_timestamp(floor(date_part('epoch', d.at) / 60) * 60) as minute, d.queue, d.event, d.events, d.again
  from {waiting} d
  where d.event <> 'suspect'
)
select to_timestamp(floor(date_part('epoch', minute) / $2) * $2) as span, queue, sum(enqueued)::bigint as enqueued, sum(claimed)::bigint as claimed,
       sum(completed)::bigint as completed, sum(retried)::bigint as retried, sum(dead)::bigint as dead,
       sum(depth) filter (where date_part('epoch', minute)::bigint % $2 = 0)::bigint as depth, 0::bigint as sampled
from (
  select h.minute, h.queue, h.enqueued, h.claimed, h.completed, h.retried + h.expired as retried, h.dead, h.ready + h.scheduled as depth
  from {schema}.queue_history h where h.minute >= $1
  union all
  select minute, queue, case when event = 'enqueued' then events else 0 end, case when event = 'moved' then events else 0 end + again,
         case when event = 'completed' then events else 0 end, case when event in ('retried', 'expired') then events else 0 end,
         case when event = 'dead' then events else 0 end, null
  from waiting where minute >= $1
) as parts
group by 1, queue
union all
select to_timestamp(floor(date_part('epoch', m.minute) / $2) * $2), null, null, null, null, null, null,
       -- whether its start was sampled
       count(*) filter (where date_part('epoch', m.minute)::bigint % $2 = 0), count(*)
from {schema}.history_minutes m where m.minute >= $1 group by 1
order by 1
