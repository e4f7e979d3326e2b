//! The values of a statement that is put together piece by piece: what a person typed goes in here and never into its text.

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::db::Statement;
use crate::model::Time;

/// One value.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Texts(Vec<String>),
    Int4(i32),
    Int4s(Vec<i32>),
    Int8(i64),
    Uuid(Uuid),
    Uuids(Vec<Uuid>),
    Time(Time),
}

/// The values so far. Adding one answers with its place in the text, `$3`.
#[derive(Debug, Default)]
pub(super) struct Params(Vec<Value>);

impl Params {
    fn add(&mut self, value: Value) -> String {
        self.0.push(value);
        format!("${}", self.0.len())
    }

    pub(super) fn text(&mut self, value: &str) -> String {
        self.add(Value::Text(value.to_owned()))
    }

    pub(super) fn texts<T: AsRef<str>>(&mut self, values: &[T]) -> String {
        self.add(Value::Texts(values.iter().map(|value| value.as_ref().to_owned()).collect()))
    }

    pub(super) fn int4(&mut self, value: i32) -> String {
        self.add(Value::Int4(value))
    }

    pub(super) fn int4s(&mut self, values: &[i32]) -> String {
        self.add(Value::Int4s(values.to_vec()))
    }

    pub(super) fn int8(&mut self, value: i64) -> String {
        self.add(Value::Int8(value))
    }

    pub(super) fn uuid(&mut self, value: Uuid) -> String {
        self.add(Value::Uuid(value))
    }

    pub(super) fn uuids(&mut self, values: Vec<Uuid>) -> String {
        self.add(Value::Uuids(values))
    }

    pub(super) fn time(&mut self, value: Time) -> String {
        self.add(Value::Time(value))
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The statement of a text with these values.
    pub(super) fn statement(self, sql: String) -> Statement {
        self.0.into_iter().fold(Statement::new(sql), |statement, value| match value {
            Value::Text(value) => statement.text(value),
            Value::Texts(values) => statement.texts(values),
            Value::Int4(value) => statement.int4(value),
            Value::Int4s(values) => statement.bind(values, Type::INT4_ARRAY),
            Value::Int8(value) => statement.int8(value),
            Value::Uuid(value) => statement.uuid(value),
            Value::Uuids(values) => statement.uuids(values),
            Value::Time(value) => statement.time(value),
        })
    }
}
