with recursive queues (queue) as (
  (select q.queue from {schema}.jobs q where q.idempotency_key is not null order by q.queue limit 1)
  union all
  select (select q.queue from {schema}.jobs q where q.idempotency_key is not null and q.queue > p.queue order by q.queue limit 1)
  from queues p where p.queue is not null
)
select queue from queues where queue is not null limit 10000
