//! Wire formats of our own: times with their infinities, and text and JSON that need not be UTF-8.

use std::{error::Error, fmt::Write as _};

use bytes::BytesMut;
use postgres_protocol::types::{timestamp_from_sql, timestamp_to_sql};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::model::Time;

impl<'a> FromSql<'a> for Time {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::from_pg_micros(timestamp_from_sql(raw)?))
    }

    fn accepts(r#type: &Type) -> bool {
        *r#type == Type::TIMESTAMPTZ
    }
}

impl ToSql for Time {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        timestamp_to_sql(self.to_pg_micros(), out);
        Ok(IsNull::No)
    }

    fn accepts(r#type: &Type) -> bool {
        *r#type == Type::TIMESTAMPTZ
    }

    to_sql_checked!();
}

/// Text from the database that may hold any bytes, as in `SQL_ASCII` databases: what is not UTF-8 is shown as `\xNN`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(pub String);

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl Text {
    fn from_bytes(raw: &[u8]) -> Self {
        let mut text = String::with_capacity(raw.len());
        for chunk in raw.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\x{byte:02X}");
            }
        }
        Self(text)
    }
}

impl<'a> FromSql<'a> for Text {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::from_bytes(raw))
    }

    fn accepts(r#type: &Type) -> bool {
        matches!(*r#type, Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN | Type::JSON)
    }
}

/// `json` from the database; bytes that are not UTF-8, as in `SQL_ASCII` databases, become U+FFFD.
#[derive(Debug, Clone, PartialEq)]
pub struct Json(pub serde_json::Value);

impl<'a> FromSql<'a> for Json {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(serde_json::from_str(&String::from_utf8_lossy(raw))?))
    }

    fn accepts(r#type: &Type) -> bool {
        *r#type == Type::JSON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_not_text_stay_visible() {
        assert_eq!(Text::from_bytes(b"caf\xc3\xa9 caf\xe9 \xff").0, "café caf\\xE9 \\xFF");
        assert_eq!(Text::from_bytes(b"").0, "");
    }

    #[test]
    fn json_survives_bytes_that_are_not_text() {
        let json = Json::from_sql(&Type::JSON, b"{\"caf\xe9\": 1}").unwrap();
        assert_eq!(json.0, serde_json::json!({"caf\u{fffd}": 1}));
        assert!(Json::from_sql(&Type::JSON, b"{").is_err());
    }

    #[test]
    fn infinities_and_far_years_survive() {
        for time in [Time::NegInfinity, Time::Infinity, Time::At(0), Time::At(8_700_000_000_000_000_000)] {
            let mut raw = BytesMut::new();
            time.to_sql(&Type::TIMESTAMPTZ, &mut raw).unwrap();
            assert_eq!(Time::from_sql(&Type::TIMESTAMPTZ, &raw).unwrap(), time);
        }
    }
}
