-- What became of the call with the token $1: an answer for each target, as the audit has it.
select a.acted_at as at, a.id as audit, r.value ->> 'id' as id, r.value ->> 'outcome' as outcome,
       r.value ->> 'state_now' as state_now, r.value ->> 'detail' as detail
from {schema}.operator_actions a
left join lateral jsonb_array_elements(a.rows) with ordinality as r (value, place) on true
where a.token = $1
order by r.place
