-- The attempts of job $1 that did not complete; of many, the latest 200.
select * from (
  select f.attempt, f.worker::text as worker, f.began_at, f.ended_at, f.outcome, left(f.error, 500) as error, f.id
  from {schema}.job_failures f where f.job_id = $1 order by f.attempt desc, f.id desc limit 200
) as latest order by attempt, id
