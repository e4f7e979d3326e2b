//! What the header says of the server and of the role's rights.

use crate::engine::live::Live;
use crate::model::{Ability, ServerFacts};

/// Facts of a session and of the backends found on it.
#[must_use]
pub fn server_facts(live: &Live) -> ServerFacts {
    let facts = live.session.facts();
    let mut notes: Vec<String> = live.backends.iter().flat_map(|backend| backend.notes()).collect();
    if live.backends.is_empty() {
        notes.push("no queue found in this database: `queuetop migrate` installs one".to_owned());
    }
    ServerFacts {
        user: facts.user.clone(),
        database: facts.database.clone(),
        host: facts.host.clone(),
        local: facts.is_local(),
        version: facts.version.clone(),
        version_num: facts.version_num,
        standby: facts.standby,
        tls: facts.tls,
        backends: live.backends.iter().map(|backend| (backend.kind(), backend.schema().to_owned())).collect(),
        act: ability(live),
        notes,
    }
}

/// Whether this role may act on the jobs of any backend.
fn ability(live: &Live) -> Ability {
    if live.session.facts().standby {
        return Ability::No("the server is a standby: connect to the primary to act".to_owned());
    }
    let mut ability = Ability::Unknown;
    for backend in live.backends.iter() {
        match backend.may_act() {
            Ok(()) => return Ability::Yes,
            Err(reason) => ability = Ability::No(reason),
        }
    }
    ability
}
