-- One call is one transaction: all targets with what was seen of them, an answer for each.
select clock_timestamp() as at, a.id::text as id, a.outcome, a.state_now, a.detail
from (select true) as always left join {schema}.{function}({arguments}) as a on true
