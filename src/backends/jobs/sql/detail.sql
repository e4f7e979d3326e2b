-- One live job.
select clock_timestamp() as now, {columns}, {payload}, left(j.last_error, 16384) as last_error,
       octet_length(j.last_error)::bigint as last_error_bytes, {more}
from {schema}.jobs j where j.id = $1
