-- The table queue as it is described in the wild, statement by statement, unchanged. `:name` is a value.

-- @ jobs
create table public.jobs (
  id uuid primary key default gen_random_uuid(),
  queue text not null,
  payload jsonb not null,
  status text not null default 'queued'
    check (status in ('queued', 'running', 'completed')),
  priority integer not null default 0,
  run_at timestamptz not null default now(),
  attempts integer not null default 0 check (attempts >= 0),
  max_attempts integer not null default 8 check (max_attempts > 0),
  locked_by uuid,
  lease_until timestamptz,
  last_error text,
  idempotency_key text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);

-- @ indexes
create unique index jobs_queue_idempotency_key_uq
  on public.jobs (queue, idempotency_key)
  where idempotency_key is not null;

create index jobs_claim_ready_idx
  on public.jobs (queue, priority desc, run_at, created_at)
  where status = 'queued';

create index jobs_expired_lease_idx
  on public.jobs (lease_until)
  where status = 'running';

-- @ claim function
create or replace function public.claim_jobs(
  p_queue text,
  p_worker uuid,
  p_batch integer default 10,
  p_lease interval default interval '5 minutes'
)
returns setof public.jobs
language sql
security definer
set search_path = public, pg_temp
as $$
  with candidates as (
    select id
    from public.jobs
    where queue = p_queue
      and status = 'queued'
      and run_at <= now()
      and attempts < max_attempts
    order by priority desc, run_at asc, created_at asc
    for update skip locked
    limit p_batch
  )
  update public.jobs j
  set status = 'running',
      locked_by = p_worker,
      lease_until = now() + p_lease,
      attempts = j.attempts + 1,
      updated_at = now()
  from candidates c
  where j.id = c.id
  returning j.*;
$$;

-- @ heartbeat
update public.jobs
set lease_until = now() + interval '5 minutes',
    updated_at = now()
where id = :job_id
  and status = 'running'
  and locked_by = :worker_id;

-- @ dead letters
create table public.dead_letter_jobs (
  id uuid primary key,
  queue text not null,
  payload jsonb not null,
  attempts integer not null,
  max_attempts integer not null,
  last_error text,
  failed_at timestamptz not null default now(),
  original_created_at timestamptz not null
);

-- @ retry
update public.jobs
set status = 'queued',
    run_at = now() + :backoff,
    locked_by = null,
    lease_until = null,
    last_error = :error_message,
    updated_at = now()
where id = :job_id
  and status = 'running'
  and locked_by = :worker_id;

-- @ move to dead letters
begin;

with moved as (
  delete from public.jobs
  where id = :job_id
    and status = 'running'
    and locked_by = :worker_id
    and attempts >= max_attempts
  returning *
)
insert into public.dead_letter_jobs (
  id, queue, payload, attempts, max_attempts, last_error, original_created_at
)
select id, queue, payload, attempts, max_attempts, :error_message, created_at
from moved;

commit;

-- @ complete
update jobs
set status = 'completed',
    completed_at = now(),
    locked_by = null,
    lease_until = null,
    updated_at = now()
where id = :job_id
  and status = 'running'
  and locked_by = :worker_id;

-- @ call claim
select * from claim_jobs(p_queue => 'emails', p_worker => :worker_id, p_batch => 10, p_lease => '5 minutes');

-- @ call dead letter
select move_to_dead_letter(job_id => :job_id, worker_id => :worker_id, error => :error_message);

-- @ call retry
select retry_job(job_id => :job_id, worker_id => :worker_id, error => :error_message, backoff => :backoff);

-- @ stuck in running
select id, queue, attempts, locked_by, lease_until, updated_at, last_error
from public.jobs
where status = 'running'
order by lease_until asc nulls first
limit 100;

-- @ piling up
select queue, count(*) as queued,
       min(created_at) as oldest_created_at
from public.jobs
where status = 'queued'
  and run_at <= now()
group by queue
order by queued desc;
