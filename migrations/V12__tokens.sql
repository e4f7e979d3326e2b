-- A caller may give a call a token of its own (set_config('queuetop.token', ...)): when the answer is lost on its way, the
-- audit row with the token tells what became of each target, and that row's id is what an undo needs. No row: nothing was done.
alter table {schema}.operator_actions add column token uuid;

-- Not concurrently: the table is new or small, and the column is empty.
create unique index operator_actions_token_idx on {schema}.operator_actions (token) where token is not null;

-- Who did it: the login (session user), the role put on by SET ROLE, and behind PostgREST the
-- subject of the verified token.
create or replace function {schema}.operator_record(p_action text, p_rows jsonb, p_reason text, p_arguments jsonb)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_id bigint;
  v_subject text;
  v_token uuid;
begin
  begin
    v_token := nullif(current_setting('queuetop.token', true), '')::uuid;
  exception when invalid_text_representation then
    v_token := null; -- not ours
  end;
  begin
    v_subject := coalesce(
      nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
      nullif(current_setting('request.jwt.claim.sub', true), '')
    );
  exception when others then
    v_subject := null; -- not JSON: some other program's setting
  end;
  insert into {schema}.operator_actions (
    action, session_user_name, role_name, jwt_subject, client_addr, application_name,
    reason, arguments, ids, outcome, rows, token
  )
  values (
    p_action, session_user, nullif(current_setting('role'), 'none'), left(v_subject, 200),
    inet_client_addr(), current_setting('application_name'),
    left(p_reason, 1000), p_arguments,
    array(select (r.value ->> 'id')::uuid from jsonb_array_elements(p_rows) r),
    (select coalesce(jsonb_object_agg(c.outcome, c.count), '{}')
     from (select r.value ->> 'outcome' as outcome, count(*) from jsonb_array_elements(p_rows) r group by 1) c),
    p_rows,
    v_token
  )
  returning id into v_id;
  return v_id;
end
$queuetop$;

select {schema}.queuetop_apply_rights();
