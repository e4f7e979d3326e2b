-- What happened: attempts that did not complete, operators' actions, workers, maintenance.
--
-- Attempts are recorded by triggers, not by the functions, so that the plain statements of a worker
-- that never heard of our functions leave the same history.

-- One row per attempt that ended without completing the job.
create table {schema}.job_failures (
  id bigint generated always as identity primary key,
  job_id uuid not null,
  queue text not null,
  attempt integer not null,
  max_attempts integer not null,
  worker uuid,
  -- null where the claim was made before this table existed
  began_at timestamptz,
  ended_at timestamptz not null default now(),
  -- failed: the worker said so; expired: the lease ran out; operator: taken away by hand;
  -- fenced: expired or taken away, and its worker came back later and was refused
  outcome text not null check (outcome in ('failed', 'expired', 'operator', 'fenced')),
  -- what became of the job
  became text not null check (became in ('queued', 'running', 'dead', 'deleted')),
  error text,
  signature text,
  -- when and with which call the worker came back too late
  fenced_at timestamptz,
  fenced_call text
);

create index job_failures_ended_at_idx on {schema}.job_failures (ended_at);
create index job_failures_job_idx on {schema}.job_failures (job_id, attempt);

-- One row per call of an operator function, written in the same transaction.
create table {schema}.operator_actions (
  id bigint generated always as identity primary key,
  acted_at timestamptz not null default now(),
  action text not null,
  -- who: the login, the role in force, the subject of the request's JWT, where from, what program
  session_user_name text not null,
  role_name text,
  jwt_subject text,
  client_addr inet,
  application_name text,
  -- what
  reason text,
  arguments jsonb not null default '{}',
  ids uuid[] not null default '{}',
  -- how many targets ended in which outcome: {"done": 3, "changed": 1}
  outcome jsonb not null default '{}',
  -- per target: id, outcome, state_now, detail, and for those done the row before and after
  -- (without the payload, which no action changes)
  rows jsonb not null default '[]',
  undone_by bigint
);

create index operator_actions_acted_at_idx on {schema}.operator_actions (acted_at);

-- Queues need no registration; a row here means that somebody paused (or resumed) one.
create table {schema}.queues (
  queue text primary key,
  paused boolean not null default false,
  changed_by text,
  changed_at timestamptz not null default now(),
  reason text
);

-- Workers that say who they are. Optional: a lease is what counts.
create table {schema}.workers (
  id uuid primary key,
  name text,
  host text,
  pid integer,
  version text,
  started_at timestamptz not null default now(),
  last_seen timestamptz not null default now()
) with (fillfactor = 50); -- last_seen is written over and over: room for HOT updates

-- When each housekeeping task last ran and what it did. The rows exist from the start, so that
-- nobody ever waits for somebody else's first insert.
create table {schema}.maintenance_runs (
  task text primary key,
  last_run_at timestamptz,
  last_by text,
  -- what the last run did: {"requeued": 3, "dead": 1}
  did jsonb not null default '{}',
  runs bigint not null default 0
) with (fillfactor = 50);

insert into {schema}.maintenance_runs (task)
values
  ('reap_expired_jobs'),
  ('prune_completed_jobs'),
  ('prune_dead_letters'),
  ('prune_history');

-- An error without what differs from case to case: ids, numbers and quoted values become <id>, <n>
-- and <v>. Only the first line of the first 500 letters counts, and the result has at most 200.
create function {schema}.error_signature(p_error text) returns text
language sql immutable parallel safe
as $queuetop$
  select pg_catalog.left(
    pg_catalog.regexp_replace(
      pg_catalog.regexp_replace(
        pg_catalog.regexp_replace(
          pg_catalog.regexp_replace(
            pg_catalog.split_part(pg_catalog.left(pg_catalog.ltrim(p_error, E' \t\r\n'), 500), E'\n', 1),
            '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}', '<id>', 'g'),
          '"[^"]*"|''[^'']*''', '<v>', 'g'),
        '\m(0x)?[0-9a-fA-F]{8,}\M', '<id>', 'g'),
      '[0-9]+', '<n>', 'g'),
    200)
$queuetop$;

-- The functions say through this setting how the attempts they end have ended. It is local to the
-- transaction and cleared at once; a plain statement leaves it empty and the trigger then concludes
-- from the row.
create function {schema}.record_failure() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_ran_out boolean := old.lease_until is null or old.lease_until < clock_timestamp();
  v_said text := current_setting('queuetop.outcome', true);
  v_became text := 'deleted';
  v_error text := old.last_error;
  v_dead {schema}.dead_letter_jobs;
begin
  if tg_op = 'UPDATE' then
    v_became := new.status;
    v_error := new.last_error;
  else
    select * into v_dead from {schema}.dead_letter_jobs d where d.id = old.id;
    if found then
      v_became := 'dead';
      v_error := v_dead.last_error;
      -- A plain statement moves only the columns it knows of: save what a replay will need.
      if v_dead.reason is null then
        update {schema}.dead_letter_jobs d
        set priority = coalesce(d.priority, old.priority),
            idempotency_key = coalesce(d.idempotency_key, old.idempotency_key),
            replay_of = coalesce(d.replay_of, old.replay_of),
            origin_key = coalesce(d.origin_key, old.origin_key),
            reason = case when old.attempts >= old.max_attempts then 'exhausted' else 'permanent' end
        where d.id = old.id;
      end if;
    end if;
    if old.status <> 'running' then
      return null; -- no attempt was under way
    end if;
  end if;

  if v_said is null or v_said not in ('failed', 'expired', 'operator') then
    v_said := case
      when v_became = 'deleted' then 'operator'
      when v_became = 'running' then 'expired'
      when v_error is distinct from old.last_error then 'failed'
      when v_ran_out then 'expired'
      else 'failed'
    end;
  elsif v_said = 'operator' and v_ran_out then
    v_said := 'expired'; -- the operator only said what was so already
  end if;
  if v_said <> 'failed' and v_error is not distinct from old.last_error then
    v_error := case v_said when 'expired' then 'lease expired' else 'taken away by an operator' end;
  end if;

  insert into {schema}.job_failures (
    job_id, queue, attempt, max_attempts, worker, began_at, ended_at, outcome, became, error, signature
  )
  values (
    old.id, old.queue, old.attempts, old.max_attempts, old.locked_by, old.claimed_at, now(),
    v_said, v_became, left(v_error, 8000), {schema}.error_signature(v_error)
  );
  return null;
end
$queuetop$;

-- Row triggers with a condition: the condition is checked without calling anything, so claims and
-- completions pay a comparison, not a function call.
create trigger jobs_record_failure
  after update on {schema}.jobs
  for each row
  when (old.status = 'running'
    and (new.status = 'queued' or (new.status = 'running' and new.attempts <> old.attempts)))
  execute function {schema}.record_failure();

create trigger jobs_record_removal
  after delete on {schema}.jobs
  for each row
  when (old.status <> 'completed')
  execute function {schema}.record_failure();

-- A claim by a plain statement does not know claimed_at. Ours set it, and then this does not fire.
create function {schema}.note_claim() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  new.claimed_at := now();
  return new;
end
$queuetop$;

create trigger jobs_note_claim
  before update on {schema}.jobs
  for each row
  when (new.status = 'running' and new.attempts > old.attempts
    and new.claimed_at is not distinct from old.claimed_at)
  execute function {schema}.note_claim();

create function {schema}.sign_dead_letter() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  new.signature := {schema}.error_signature(new.last_error);
  return new;
end
$queuetop$;

create trigger dead_letter_jobs_sign
  before insert on {schema}.dead_letter_jobs
  for each row
  execute function {schema}.sign_dead_letter();

-- Written by the tasks themselves. If another run of the same task holds the row, that run will
-- write it: nothing waits here.
create function {schema}.note_maintenance(p_task text, p_did jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
begin
  update {schema}.maintenance_runs m
  set last_run_at = now(), last_by = session_user, did = p_did, runs = m.runs + 1
  where m.task = any(array(
    select r.task from {schema}.maintenance_runs r where r.task = p_task for update skip locked
  ));
end
$queuetop$;
