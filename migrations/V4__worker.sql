-- What workers call: claim, heartbeat, complete, retry, dead-letter.
--
-- Rules kept by all of them:
-- * The fence: a worker's call matches id, status 'running', locked_by and, where given, the attempt.
--   A worker that lost its job changes nothing and is told so.
-- * attempts grows when a job is claimed and never goes down on a live row.
-- * Times come from the database (now()), never from a caller's clock.
-- * Bad arguments are an error that names the argument (SQLSTATE 22023); an error text is data and
--   never makes a call fail: it is cut to 8,000 letters.
-- * Argument names that are also column names (job_id, attempt, error) are copied to v_... first, and a
--   column wins where the two meet: `f.job_id = job_id` would otherwise be true for every row.

create function {schema}.check_between(p_name text, p_value integer, p_low integer, p_high integer)
returns void
language plpgsql immutable
as $queuetop$
begin
  if p_value is null then
    raise exception '% must not be null', p_name using errcode = '22004';
  elsif p_value not between p_low and p_high then
    raise exception '% must be between % and %, not %', p_name, p_low, p_high, p_value
      using errcode = '22023';
  end if;
end
$queuetop$;

create function {schema}.check_given(p_name text, p_is_null boolean) returns void
language plpgsql immutable
as $queuetop$
begin
  if p_is_null then
    raise exception '% must not be null', p_name using errcode = '22004';
  end if;
end
$queuetop$;

create function {schema}.check_lease(p_lease interval) returns void
language plpgsql immutable
as $queuetop$
begin
  if p_lease is null then
    raise exception 'p_lease must not be null' using errcode = '22004';
  elsif p_lease <= interval '0' or p_lease > interval '1 year' then
    raise exception 'p_lease must be more than nothing and at most a year, not %', p_lease
      using errcode = '22023';
  end if;
end
$queuetop$;

-- The claim. Order: priority desc, run_at, created_at.
--
-- `limit` with a parameter makes the planner guess, and its guess can be to join or sort the whole
-- table. So each step takes its candidates by an index in order, at most 100 of them (a constant, so
-- that the plan is the same for every batch size), and updates exactly those ids.
--
-- Scheduled jobs of a higher priority stand before the due ones in the index. The walk goes from
-- priority to priority and looks only at due rows of each, so their number does not matter. After
-- 100 priorities without a full batch it gives up on that and reads the rest in index order, which is
-- right and bounded by the queue's index, though no longer independent of what is scheduled.
create function {schema}.claim_jobs(
  p_queue text,
  p_worker uuid,
  p_batch integer default 10,
  p_lease interval default interval '5 minutes'
)
returns setof {schema}.jobs
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_left integer := p_batch;
  v_want integer;
  v_ids uuid[];
  v_top integer := 2147483647; -- priorities above this one hold nothing due any more
  v_priority integer;
  v_due boolean;
  v_walked integer := 0;
begin
  perform {schema}.check_given('p_queue', p_queue is null);
  perform {schema}.check_given('p_worker', p_worker is null);
  perform {schema}.check_between('p_batch', p_batch, 1, 1000);
  perform {schema}.check_lease(p_lease);
  if exists (select from {schema}.queues q where q.queue = p_queue and q.paused) then
    return;
  end if;

  while v_left > 0 loop
    v_want := least(v_left, 100);
    v_ids := '{}';
    loop
      if v_walked < 100 then
        -- The first entry of a priority has its earliest run_at: nothing due there, nothing to read.
        select j.priority, j.run_at <= now() into v_priority, v_due
        from {schema}.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.attempts < j.max_attempts
          and j.priority <= v_top
        order by j.priority desc, j.run_at
        limit 1;
        exit when not found;
        v_walked := v_walked + 1;
        if v_due then
          v_ids := v_ids || array(
            select due.id
            from (
              select j.id
              from {schema}.jobs j
              where j.queue = p_queue and j.status = 'queued' and j.attempts < j.max_attempts
                and j.priority = v_priority and j.run_at <= now()
              order by j.run_at, j.created_at
              limit 100
              for update skip locked
            ) due
            limit v_want - cardinality(v_ids)
          );
          -- Full: the same priority may hold more. Otherwise go on below it.
          exit when cardinality(v_ids) >= v_want;
        end if;
        exit when v_priority = -2147483648;
        v_top := v_priority - 1;
      else
        v_ids := v_ids || array(
          select due.id
          from (
            select j.id
            from {schema}.jobs j
            where j.queue = p_queue and j.status = 'queued' and j.attempts < j.max_attempts
              and j.priority <= v_top and j.run_at <= now()
            order by j.priority desc, j.run_at, j.created_at
            limit 100
            for update skip locked
          ) due
          limit v_want - cardinality(v_ids)
        );
        exit;
      end if;
    end loop;
    exit when v_ids = '{}';

    return query
      with claimed as (
        update {schema}.jobs j
        set status = 'running',
            locked_by = p_worker,
            lease_until = now() + p_lease,
            attempts = j.attempts + 1,
            claimed_at = now(),
            updated_at = now()
        where j.id = any(v_ids) and j.status = 'queued'
        returning j.*
      )
      -- the only sort: of what was claimed, so that a worker starts with the most urgent
      select c.* from claimed c order by c.priority desc, c.run_at, c.created_at;
    exit when cardinality(v_ids) < v_want;
    v_left := v_left - v_want;
  end loop;
  perform {schema}.fold_counters_step();
end
$queuetop$;

-- Extends the leases of those jobs that the worker still owns and names them; a job that is missing
-- from the answer is lost and its handler should stop. A lease that ran out is extended too, as long
-- as nobody has taken the job: the worker is evidently alive. p_attempts, if given, goes with p_ids
-- element by element.
create function {schema}.heartbeat_jobs(
  p_ids uuid[],
  p_worker uuid,
  p_lease interval default interval '5 minutes',
  p_attempts integer[] default null
)
returns setof uuid
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
begin
  perform {schema}.check_given('p_ids', p_ids is null);
  perform {schema}.check_given('p_worker', p_worker is null);
  perform {schema}.check_lease(p_lease);
  if p_attempts is not null and cardinality(p_attempts) <> cardinality(p_ids) then
    raise exception 'p_attempts has % elements, p_ids has %', cardinality(p_attempts), cardinality(p_ids)
      using errcode = '22023';
  end if;
  return query
    with owned as materialized (
      select j.id
      from {schema}.jobs j
      where j.id = any(p_ids)
        and j.status = 'running'
        and j.locked_by = p_worker
        and (p_attempts is null or (j.id, j.attempts) in (
          select asked.id, coalesce(asked.attempt, j.attempts)
          from unnest(p_ids, p_attempts) as asked (id, attempt)
        ))
      order by j.id -- one order for all who wait for several rows: no deadlocks
      for update
    )
    update {schema}.jobs j
    set lease_until = now() + p_lease,
        updated_at = now()
    where j.id = any(array(select owned.id from owned))
    returning j.id;
end
$queuetop$;

-- A worker came back for an attempt that was already ended for it. Said in the history: this is how
-- side effects happen twice.
create function {schema}.note_fenced(p_job uuid, p_worker uuid, p_attempt integer, p_call text)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  update {schema}.job_failures f
  set outcome = 'fenced', fenced_at = now(), fenced_call = p_call
  where f.id = (
    select l.id
    from {schema}.job_failures l
    where l.job_id = p_job and l.worker = p_worker and l.outcome in ('expired', 'operator')
      and (p_attempt is null or l.attempt = p_attempt)
    order by l.attempt desc, l.id desc
    limit 1
  );
end
$queuetop$;

create function {schema}.complete_job(job_id uuid, worker_id uuid, attempt integer default null)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_job uuid := job_id;
  v_worker uuid := worker_id;
  v_attempt integer := attempt;
begin
  perform {schema}.check_given('job_id', v_job is null);
  perform {schema}.check_given('worker_id', v_worker is null);
  update {schema}.jobs j
  set status = 'completed',
      completed_at = now(),
      locked_by = null,
      lease_until = null,
      updated_at = now()
  where j.id = v_job
    and j.status = 'running'
    and j.locked_by = v_worker
    and (v_attempt is null or j.attempts = v_attempt);
  if not found then
    perform {schema}.note_fenced(v_job, v_worker, v_attempt, 'complete_job');
    return false;
  end if;
  perform {schema}.fold_counters_step();
  return true;
end
$queuetop$;

-- Moves rows that the caller has locked and checked. A dead letter of the same id can only be left
-- from something done by hand; the later death replaces it, because a job that cannot die would
-- block its sweep for ever.
create function {schema}.move_rows_to_dead_letter(p_ids uuid[], p_error text, p_reason text)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_moved bigint;
begin
  with moved as (
    delete from {schema}.jobs j where j.id = any(p_ids) returning j.*
  )
  insert into {schema}.dead_letter_jobs as d (
    id, queue, payload, attempts, max_attempts, last_error, original_created_at,
    priority, idempotency_key, replay_of, origin_key, reason
  )
  select
    m.id, m.queue, m.payload, m.attempts, m.max_attempts, left(coalesce(p_error, m.last_error), 8000),
    m.created_at, m.priority, m.idempotency_key, m.replay_of, m.origin_key, p_reason
  from moved m
  on conflict (id) do update
  set queue = excluded.queue, payload = excluded.payload, attempts = excluded.attempts,
      max_attempts = excluded.max_attempts, last_error = excluded.last_error, failed_at = now(),
      original_created_at = excluded.original_created_at, priority = excluded.priority,
      idempotency_key = excluded.idempotency_key, replay_of = excluded.replay_of,
      origin_key = excluded.origin_key, reason = excluded.reason, signature = excluded.signature,
      replayed_at = null, replayed_job_id = null, replays = 0;
  get diagnostics v_moved = row_count;
  return v_moved;
end
$queuetop$;

create function {schema}.move_to_dead_letter(
  job_id uuid, worker_id uuid, error text, attempt integer default null
)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_job uuid := job_id;
  v_worker uuid := worker_id;
  v_attempt integer := attempt;
  v_reason text;
begin
  perform {schema}.check_given('job_id', v_job is null);
  perform {schema}.check_given('worker_id', v_worker is null);
  select case when j.attempts >= j.max_attempts then 'exhausted' else 'permanent' end into v_reason
  from {schema}.jobs j
  where j.id = v_job
    and j.status = 'running'
    and j.locked_by = v_worker
    and (v_attempt is null or j.attempts = v_attempt)
  for update;
  if not found then
    perform {schema}.note_fenced(v_job, v_worker, v_attempt, 'move_to_dead_letter');
    return 'lost';
  end if;
  perform set_config('queuetop.outcome', 'failed', true);
  perform {schema}.move_rows_to_dead_letter(array[v_job], coalesce(error, 'no error given'), v_reason);
  perform set_config('queuetop.outcome', '', true);
  perform {schema}.fold_counters_step();
  return 'dead';
end
$queuetop$;

-- Back to the queue after a failure, or to the dead letters when that was the last attempt. The
-- worker computes the back-off; it is refused when null, negative or more than a year, and kept
-- between 1 second (a failed job must not be first in line again) and 7 days.
create function {schema}.retry_job(
  job_id uuid, worker_id uuid, error text, backoff interval, attempt integer default null
)
returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_job uuid := job_id;
  v_worker uuid := worker_id;
  v_attempt integer := attempt;
  v_error text := left(coalesce(error, 'no error given'), 8000);
  v_backoff interval := least(greatest(backoff, interval '1 second'), interval '7 days');
  v_outcome text;
begin
  perform {schema}.check_given('job_id', v_job is null);
  perform {schema}.check_given('worker_id', v_worker is null);
  perform {schema}.check_given('backoff', backoff is null);
  if backoff < interval '0' or backoff > interval '1 year' then
    raise exception 'backoff must be between nothing and a year, not %', backoff using errcode = '22023';
  end if;

  perform set_config('queuetop.outcome', 'failed', true);
  update {schema}.jobs j
  set status = 'queued',
      run_at = now() + v_backoff,
      locked_by = null,
      lease_until = null,
      last_error = v_error,
      updated_at = now()
  where j.id = v_job
    and j.status = 'running'
    and j.locked_by = v_worker
    and j.attempts < j.max_attempts
    and (v_attempt is null or j.attempts = v_attempt);
  if found then
    v_outcome := 'queued';
  else
    -- the last attempt, or not this worker's job any more
    v_outcome := {schema}.move_to_dead_letter(v_job, v_worker, v_error, v_attempt);
  end if;
  perform set_config('queuetop.outcome', '', true);
  if v_outcome = 'queued' then
    perform {schema}.fold_counters_step();
  end if;
  return v_outcome;
end
$queuetop$;
