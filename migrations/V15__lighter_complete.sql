-- A completion is the smallest and most frequent call of a worker, so it does no more than it must: the claims between the
-- completions and the reaper fold the counters, and readers add what is not folded yet.
create or replace function {schema}.complete_job(job_id uuid, worker_id uuid, attempt integer default null)
returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_job uuid := job_id;
  v_worker uuid := worker_id;
  v_attempt integer := attempt;
begin
  if v_job is null or v_worker is null then
    perform {schema}.check_given('job_id', v_job is null);
    perform {schema}.check_given('worker_id', v_worker is null);
  end if;
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
  return true;
end
$queuetop$;

select {schema}.queuetop_apply_rights();
