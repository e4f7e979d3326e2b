-- How jobs come in: one by one or many at once; and how workers say who they are.
--
-- Both ways of enqueueing run in the caller's transaction: a job enqueued beside a business change
-- appears and disappears with it.

-- A queue's name and a key end up together in one B-tree entry, which holds about 2,700 bytes.
create function {schema}.check_queue(p_name text, p_queue text, p_key text) returns void
language plpgsql immutable
as $queuetop$
begin
  if p_queue is null then
    raise exception '% must not be null', p_name using errcode = '22004';
  elsif p_queue = '' or octet_length(p_queue) > 2000 then
    raise exception '% must have between 1 and 2000 bytes, not %', p_name, octet_length(p_queue)
      using errcode = '22023';
  elsif octet_length(p_key) > 1000 or octet_length(p_queue) + octet_length(p_key) > 2600 then
    raise exception 'the idempotency key must have at most 1000 bytes (2600 together with %), not %',
      p_name, octet_length(p_key) using errcode = '22023';
  end if;
end
$queuetop$;

-- One job. With an idempotency key that a job of the queue already has (in any state, completed jobs
-- included until they are pruned), the answer is that job and created = false. Dead letters do not
-- hold their key.
create function {schema}.enqueue_job(
  p_queue text,
  p_payload jsonb,
  p_priority integer default 0,
  p_run_at timestamptz default now(),
  p_max_attempts integer default 8,
  p_idempotency_key text default null,
  out id uuid,
  out created boolean
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_id uuid;
begin
  perform {schema}.check_queue('p_queue', p_queue, p_idempotency_key);
  perform {schema}.check_given('p_payload', p_payload is null);
  perform {schema}.check_given('p_priority', p_priority is null);
  perform {schema}.check_given('p_run_at', p_run_at is null);
  perform {schema}.check_between('p_max_attempts', p_max_attempts, 1, 1000000);
  loop
    insert into {schema}.jobs as j (id, queue, payload, priority, run_at, max_attempts, idempotency_key)
    values (
      gen_random_uuid(), p_queue, p_payload, p_priority, p_run_at, p_max_attempts, p_idempotency_key
    )
    on conflict (queue, idempotency_key) where idempotency_key is not null do nothing
    returning j.id into v_id;
    if found then
      id := v_id;
      created := true;
      return;
    end if;
    select j.id into v_id
    from {schema}.jobs j
    where j.queue = p_queue and j.idempotency_key = p_idempotency_key;
    if found then
      id := v_id;
      created := false;
      return;
    end if;
    -- the other job went away between the two statements: try again
  end loop;
end
$queuetop$;

-- Many jobs: [{"queue": ..., "payload": ..., "priority": ..., "run_at": ..., "max_attempts": ...,
-- "idempotency_key": ...}, ...], all but queue and payload optional with the defaults of enqueue_job. The
-- answer has one row for each, by its place from 1. All or none: one that is not right is named, and
-- nothing is enqueued.
create function {schema}.enqueue_jobs(p_jobs jsonb)
returns table (ordinal integer, id uuid, created boolean)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_answer uuid[];
  v_created boolean[];
begin
  perform {schema}.check_jobs(p_jobs);
  v_ids := array(select gen_random_uuid() from jsonb_array_elements(p_jobs));
  loop
    insert into {schema}.jobs as j (id, queue, payload, priority, run_at, max_attempts, idempotency_key)
    select v_ids[a.ordinality], a.value ->> 'queue', a.value -> 'payload',
      coalesce((a.value ->> 'priority')::integer, 0),
      coalesce((a.value ->> 'run_at')::timestamptz, now()),
      coalesce((a.value ->> 'max_attempts')::integer, 8),
      a.value ->> 'idempotency_key'
    from jsonb_array_elements(p_jobs) with ordinality a
    where not exists (select from {schema}.jobs made where made.id = v_ids[a.ordinality])
    -- one order for all: two calls with the same keys cannot deadlock
    order by a.value ->> 'queue', a.value ->> 'idempotency_key', a.ordinality
    on conflict (queue, idempotency_key) where idempotency_key is not null do nothing;

    -- A statement of its own, which sees the job that held a key. If that one is gone by now, its
    -- key is free: insert again.
    select array_agg(coalesce(made.id, held.id) order by a.ordinality),
           array_agg(made.id is not null order by a.ordinality)
    into v_answer, v_created
    from jsonb_array_elements(p_jobs) with ordinality a
    left join {schema}.jobs made on made.id = v_ids[a.ordinality]
    left join {schema}.jobs held
      on made.id is null
      and held.queue = a.value ->> 'queue' and held.idempotency_key = a.value ->> 'idempotency_key';
    exit when array_position(v_answer, null) is null;
  end loop;
  return query
    select r.ordinality::integer, r.id, r.created
    from unnest(v_answer, v_created) with ordinality r (id, created)
    order by r.ordinality;
end
$queuetop$;

-- Checks p_jobs; whatever is wrong is named by its place.
create function {schema}.check_jobs(p_jobs jsonb) returns void
language plpgsql stable
as $queuetop$
declare
  v_job jsonb;
  v_at integer := 0;
  v_key text;
  v_known constant text[] :=
    array['queue', 'payload', 'priority', 'run_at', 'max_attempts', 'idempotency_key'];
begin
  if p_jobs is null or jsonb_typeof(p_jobs) <> 'array' then
    raise exception 'p_jobs must be an array of objects like {"queue": ..., "payload": ...}' using errcode = '22023';
  elsif jsonb_array_length(p_jobs) > 10000 then
    raise exception 'p_jobs has % jobs, at most 10000 go in one call', jsonb_array_length(p_jobs)
      using errcode = '22023';
  end if;
  for v_job in select value from jsonb_array_elements(p_jobs) loop
    if jsonb_typeof(v_job) <> 'object' then
      raise exception 'p_jobs[%] must be an object', v_at using errcode = '22023';
    elsif not v_job ? 'payload' then
      raise exception 'p_jobs[%].payload is missing', v_at using errcode = '22023';
    end if;
    v_key := (select k from jsonb_object_keys(v_job) k where k <> all (v_known) limit 1);
    if v_key is not null then
      raise exception 'p_jobs[%] has an unknown key %', v_at, quote_ident(left(v_key, 100)) using errcode = '22023';
    end if;
    perform {schema}.check_queue(format('p_jobs[%s].queue', v_at), v_job ->> 'queue', v_job ->> 'idempotency_key');
    begin
      v_key := 'priority';
      perform (v_job ->> v_key)::integer;
      v_key := 'run_at';
      perform (v_job ->> v_key)::timestamptz;
      v_key := 'max_attempts';
      perform (v_job ->> v_key)::integer;
    exception when data_exception then
      raise exception 'p_jobs[%].%: %', v_at, v_key, left(sqlerrm, 300) using errcode = '22023';
    end;
    perform {schema}.check_between(
      format('p_jobs[%s].max_attempts', v_at), coalesce((v_job ->> 'max_attempts')::integer, 8), 1, 1000000);
    v_at := v_at + 1;
  end loop;
end
$queuetop$;

-- A worker is alive. Optional: leases, not this, decide who owns a job. Texts are cut to 200 letters.
create function {schema}.worker_seen(
  p_worker uuid,
  p_name text default null,
  p_host text default null,
  p_pid integer default null,
  p_version text default null
)
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  perform {schema}.check_given('p_worker', p_worker is null);
  insert into {schema}.workers as w (id, name, host, pid, version)
  values (p_worker, left(p_name, 200), left(p_host, 200), p_pid, left(p_version, 200))
  on conflict (id) do update
  set name = excluded.name, host = excluded.host, pid = excluded.pid, version = excluded.version,
      last_seen = now();
end
$queuetop$;
