//! Connection strings into keys and values: URI, key=value, or a bare database name, split as libpq splits them
//! (`conninfo_uri_parse_options` and `conninfo_parse` in fe-connect.c). No meaning, no layers, no files here.
//!
//! Where an unquoted or unescaped password makes a string fall apart, its pieces turn up as keys, hosts or ports.
//! Therefore no message here repeats any text of the string.

use super::error::{ConnInfoError, Place};

/// One key as given. `at` is the position of its value or name in the string, in characters from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) at: usize,
}

/// A fault: position in characters from 1 (0: the whole string), what, and what to do.
type Fault = (usize, &'static str, &'static str);

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];
const ENCODE: &str = "in a URI write @ as %40, : as %3A, / as %2F, # as %23, % as %25 and space as %20";
const QUOTE: &str = "a value with spaces is written in single quotes, with \\' for a quote inside";

/// Splits a connection string. `place` makes the place of a fault from its position.
pub(super) fn parse(dsn: &str, place: fn(usize) -> Place) -> Result<Vec<Given>, ConnInfoError> {
    let parsed = if dsn.contains('\0') {
        Err((0, "it holds a NUL character", ""))
    } else if let Some(scheme) = SCHEMES.iter().find(|scheme| dsn.starts_with(**scheme)) {
        Uri { dsn, pos: scheme.len(), given: Vec::new() }.parse()
    } else if has_other_scheme(dsn) {
        Err((0, "this is not a PostgreSQL URI", "a URI begins with postgres:// or postgresql://"))
    } else if dsn.contains('=') {
        key_values(dsn)
    } else if dsn.contains('@') {
        let hint = "write postgres://user@host/database, or dbname=… where the name really holds an @";
        Err((0, "this looks like a URI without its scheme", hint))
    } else if dsn.is_empty() {
        Ok(Vec::new())
    } else {
        Ok(vec![Given { key: "dbname".into(), value: dsn.into(), at: 0 }])
    };
    parsed.map_err(|(at, what, hint)| ConnInfoError::new(place(at), what).hint(hint))
}

/// `mysql://`, `jdbc:postgresql://`, `postgresql+driver://`, `Postgres://`: a scheme that is not ours.
fn has_other_scheme(dsn: &str) -> bool {
    dsn.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.:-_".contains(c))
    })
}

/// The position of a byte offset, in characters from 1.
fn position(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |head| head.chars().count() + 1)
}

/// A reader of a URI: `pos` is the byte up to which it was read.
struct Uri<'a> {
    dsn: &'a str,
    pos: usize,
    given: Vec<Given>,
}

impl<'a> Uri<'a> {
    fn parse(mut self) -> Result<Vec<Given>, Fault> {
        self.credentials()?;
        self.hosts()?;
        if self.eat('/') {
            let (at, name) = self.until(&['?']);
            if name.contains('@') {
                let what = "there is an unescaped @ behind the host, probably a part of a password";
                return Err((position(self.dsn, at), what, ENCODE));
            }
            self.push_unless_empty("dbname", name, at)?;
        }
        if self.eat('?') {
            self.parameters()?;
        }
        Ok(self.given)
    }

    fn rest(&self) -> &'a str {
        self.dsn.get(self.pos..).unwrap_or_default()
    }

    fn eat(&mut self, c: char) -> bool {
        let there = self.rest().starts_with(c);
        self.pos += if there { c.len_utf8() } else { 0 };
        there
    }

    /// Reads up to the first of `ends` (which stays unread) or to the end; gives where the piece began.
    fn until(&mut self, ends: &[char]) -> (usize, &'a str) {
        let (at, rest) = (self.pos, self.rest());
        let piece = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.pos += piece.len();
        (at, piece)
    }

    fn push_unless_empty(&mut self, key: &str, raw: &str, at: usize) -> Result<(), Fault> {
        if !raw.is_empty() {
            let value = self.decode(raw, at)?;
            self.given.push(Given { key: key.into(), value, at: position(self.dsn, at) });
        }
        Ok(())
    }

    /// `user:password@`, which is there when an @ comes before any slash.
    fn credentials(&mut self) -> Result<(), Fault> {
        let (at, piece) = self.until(&['@', '/']);
        if !self.eat('@') {
            self.pos = at;
            return Ok(());
        }
        let (user, password) = piece.split_once(':').unwrap_or((piece, ""));
        self.push_unless_empty("user", user, at)?;
        self.push_unless_empty("password", password, at + user.len() + 1)
    }

    /// `host:port,host:port`; lists are kept as comma-separated text, as in key=value strings.
    fn hosts(&mut self) -> Result<(), Fault> {
        let start = self.pos;
        let (mut hosts, mut ports) = (String::new(), String::new());
        loop {
            let (at, host) = self.host()?;
            if host.contains('@') {
                let what = "there is an unescaped @ in the host, probably a part of a password";
                return Err((position(self.dsn, at), what, ENCODE));
            }
            hosts.push_str(host);
            if self.eat(':') {
                ports.push_str(self.until(&['/', '?', ',']).1);
            }
            if !self.eat(',') {
                break;
            }
            hosts.push(',');
            ports.push(',');
        }
        self.push_unless_empty("host", &hosts, start)?;
        self.push_unless_empty("port", &ports, start)
    }

    fn host(&mut self) -> Result<(usize, &'a str), Fault> {
        if !self.eat('[') {
            return Ok(self.until(&[':', '/', '?', ',']));
        }
        let (at, host) = self.until(&[']']);
        let here = position(self.dsn, at);
        if !self.eat(']') {
            return Err((here, "the IPv6 address lacks its closing bracket", ""));
        }
        if host.is_empty() {
            return Err((here, "the IPv6 address is empty", ""));
        }
        if !self.rest().is_empty() && !self.rest().starts_with([':', '/', '?', ',']) {
            let what = "after the IPv6 address comes neither a port nor a database";
            return Err((position(self.dsn, self.pos), what, ""));
        }
        Ok((at, host))
    }

    fn parameters(&mut self) -> Result<(), Fault> {
        while !self.rest().is_empty() {
            let (at, parameter) = self.until(&['&']);
            self.eat('&');
            let here = position(self.dsn, at);
            let Some((key, value)) = parameter.split_once('=') else {
                return Err((here, "a parameter lacks its =", ENCODE));
            };
            if value.contains('=') {
                return Err((here, "a parameter has more than one =", "write = inside a value as %3D"));
            }
            let (key, value) = match (self.decode(key, at)?, self.decode(value, at)?) {
                (key, value) if key == "ssl" && value == "true" => ("sslmode".into(), "require".into()),
                pair => pair,
            };
            self.given.push(Given { key, value, at: here });
        }
        Ok(())
    }

    fn decode(&self, raw: &str, at: usize) -> Result<String, Fault> {
        let here = position(self.dsn, at);
        let mut bytes = Vec::with_capacity(raw.len());
        let mut rest = raw.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                bytes.push(byte);
                continue;
            }
            let digits = (rest.next().and_then(hex), rest.next().and_then(hex));
            match digits {
                (Some(0), Some(0)) => return Err((here, "%00 is not allowed", "")),
                (Some(high), Some(low)) => bytes.push(high * 16 + low),
                _ => return Err((here, "a % is not followed by two hexadecimal digits", ENCODE)),
            }
        }
        String::from_utf8(bytes).map_err(|_| (here, "a percent-encoded value is not UTF-8", ""))
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// `key=value key = 'quoted value'`. As in libpq, blanks after = are skipped and \ escapes the next character.
fn key_values(dsn: &str) -> Result<Vec<Given>, Fault> {
    let mut given = Vec::new();
    let mut chars = dsn.chars().enumerate().peekable();
    loop {
        while chars.next_if(|(_, c)| is_space(*c)).is_some() {}
        let Some(&(start, _)) = chars.peek() else {
            return Ok(given);
        };
        let at = start + 1;
        let mut key = String::new();
        while let Some((_, c)) = chars.next_if(|(_, c)| *c != '=' && !is_space(*c)) {
            key.push(c);
        }
        while chars.next_if(|(_, c)| is_space(*c)).is_some() {}
        if chars.next_if(|(_, c)| *c == '=').is_none() {
            return Err((at, "a word lacks its =", QUOTE));
        }
        while chars.next_if(|(_, c)| is_space(*c)).is_some() {}
        let quoted = chars.next_if(|(_, c)| *c == '\'').is_some();
        let mut value = String::new();
        loop {
            match chars.next() {
                Some((_, '\'')) if quoted => break,
                None if quoted => return Err((at, "a quoted value lacks its closing quote", QUOTE)),
                Some((_, c)) if !quoted && is_space(c) => break,
                None => break,
                Some((_, '\\')) => value.extend(chars.next().map(|(_, c)| c)),
                Some((_, c)) => value.push(c),
            }
        }
        given.push(Given { key, value, at });
    }
}

/// What C's `isspace` takes for a blank.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
