-- One call is one transaction: all targets with what was seen of them, an answer for each. The reason waits for the token, so that
-- the token is set before the function runs.
select clock_timestamp() as at, a.id::text as id, a.outcome, a.state_now, a.detail
from (select set_config('queuetop.token', $1::uuid::text, true) as token) as set
left join lateral {schema}.{function}({arguments}, p_reason => case when set.token is not null then $2 end) as a on true
