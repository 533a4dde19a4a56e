//! Identities of functions in a database: the rules in force there, and the rows that they make.

use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::error::Cause;
use super::fingerprint;
use crate::events::{FunctionDef, Kind};
use crate::identity::{Field, Identity, IdentityKey, Origin, Rule, Rules, built_in_digest};

/// Functions that are in memory at once.
const FUNCTIONS_AT_ONCE: i64 = 1000;

/// Rules that one statement writes: SQLite takes 32,766 values in one.
const RULES_AT_ONCE: usize = 1000;

/// The rules in force in a database.
pub(super) fn rules(connection: &Connection) -> Result<Rules, Cause> {
    // Most databases have the rules of this program, which need not be read.
    if digest(connection)? == Some(built_in_digest()) {
        return Ok(Rules::built_in());
    }
    Ok(Rules::new(stored_rules(connection)?)?)
}

/// The rules as the table has them.
fn stored_rules(connection: &Connection) -> rusqlite::Result<Vec<Rule>> {
    let sql = "SELECT origin, about, field, files, pattern, replacement
               FROM identity_rules
               ORDER BY position";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut rules = Vec::new();
    while let Some(row) = rows.next()? {
        let (origin, field): (String, String) = (row.get(0)?, row.get(2)?);
        rules.push(Rule {
            origin: match origin.as_str() {
                "user" => Origin::User,
                _ => Origin::BuiltIn,
            },
            about: row.get(1)?,
            // The table takes no other word.
            field: Field::by_word(&field).unwrap_or(Field::Name),
            files: row.get(3)?,
            pattern: row.get(4)?,
            replacement: row.get(5)?,
        });
    }
    Ok(rules)
}

/// Calls a function for everything that is not as the rules in the database make it: the digest of the rules, identities of
/// functions, identities that no function has, fingerprints of runs; and observations that are of another run.
pub(super) fn each_wrong(
    connection: &Connection,
    mut found: impl FnMut(String) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let stored = stored_rules(connection)?;
    let numbered: bool = connection.query_row(
        "SELECT COUNT(*) = COALESCE(MAX(position), 0) AND MIN(position) = 1 FROM identity_rules",
        [],
        |row| row.get(0),
    )?;
    if !numbered {
        found("identity_rules: positions do not run from 1 without gaps".to_owned())?;
    }
    let rules = match Rules::new(stored) {
        Ok(rules) => rules,
        Err(refused) => return found(format!("identity_rules: {refused}")),
    };
    if digest(connection)? != Some(rules.digest()) {
        found("identity_digests: the digest does not match the rules".to_owned())?;
    }
    let sql = "SELECT f.function_id, f.kind, f.name, f.module, f.file, i.class, i.name, i.module, i.file, i.unnamed, i.identity_key
               FROM functions AS f
               LEFT JOIN identities AS i ON i.identity_id = f.identity_id
               ORDER BY f.function_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let texts: [String; 4] = [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?];
        let [kind, name, module, file] = &texts;
        let identity = rules.identity(&FunctionDef {
            kind: Kind::by_name(kind).unwrap_or_default(),
            module,
            file,
            ..FunctionDef::named(name)
        });
        let made = [
            identity.class.word(),
            &identity.name,
            &identity.module,
            &identity.file,
        ];
        let mut is_so = row.get::<_, Option<bool>>(9)? == Some(identity.is_unnamed())
            && row.get::<_, Option<Vec<u8>>>(10)?.as_deref() == Some(&identity.key());
        for (at, text) in (5..).zip(made) {
            is_so &= row.get::<_, Option<String>>(at)?.as_deref() == Some(text);
        }
        if !is_so {
            let function: i64 = row.get(0)?;
            found(format!(
                "function_id {function}: its identity differs from that of the rules"
            ))?;
        }
    }
    let sql = "SELECT identity_id
               FROM identities AS i
               WHERE NOT EXISTS (SELECT 1 FROM functions AS f WHERE f.identity_id = i.identity_id)
               ORDER BY identity_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let identity: i64 = row.get(0)?;
        found(format!("identity_id {identity}: no function has it"))?;
    }
    let sql = "SELECT m.metric_id
               FROM metrics AS m
               LEFT JOIN metrics AS o ON o.metric_id = m.observations AND o.run_id = m.run_id
               WHERE m.observations IS NOT NULL AND o.metric_id IS NULL
               ORDER BY m.metric_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let metric: i64 = row.get(0)?;
        found(format!(
            "metric_id {metric}: its observations are not a metric of the run"
        ))?;
    }
    let sql = "SELECT run_id, fingerprint FROM runs ORDER BY run_id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (run, stored): (i64, Option<Vec<u8>>) = (row.get(0)?, row.get(1)?);
        if stored.as_deref() != Some(&fingerprint::of_run(connection, run)?) {
            found(format!(
                "run_id {run}: its fingerprint differs from that of its costs"
            ))?;
        }
    }
    Ok(())
}

/// The digest of the rules in force; `None` before there are any.
pub(super) fn digest(connection: &Connection) -> rusqlite::Result<Option<[u8; 32]>> {
    let sql = "SELECT digest FROM identity_digests";
    connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))
        .optional()
}

/// Writes the built-in rules into an empty database.
// benches/instructions.sh counts the cost of identities by the name of this function.
#[inline(never)]
pub(super) fn begin(transaction: &Connection) -> rusqlite::Result<()> {
    write_rules(transaction, &Rules::built_in())
}

/// How many functions there are, and how many identities they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identified {
    /// Functions, containers left out.
    pub functions: i64,
    /// Their identities.
    pub identities: i64,
}

/// Makes all identities anew by other rules, and the fingerprints that come of them.
pub(super) fn renew(transaction: &Connection, rules: &Rules) -> Result<Identified, Cause> {
    transaction.execute_batch(
        "UPDATE functions SET identity_id = NULL; DELETE FROM identities;
         DELETE FROM identity_rules; DELETE FROM identity_digests;",
    )?;
    write_rules(transaction, rules)?;
    each_function(transaction, |function, def| {
        give(transaction, function, &rules.try_identity(def)?)
    })?;
    let mut runs = transaction.prepare("SELECT run_id FROM runs ORDER BY run_id")?;
    let runs = runs
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    for run in runs {
        fingerprint::renew(transaction, run)?;
    }
    let sql = "SELECT COUNT(*), COUNT(DISTINCT identity_id)
               FROM functions
               WHERE kind IN ('function', 'pseudo')";
    Ok(transaction.query_row(sql, [], |row| {
        Ok(Identified {
            functions: row.get(0)?,
            identities: row.get(1)?,
        })
    })?)
}

/// Fills the empty table of the rules, whose positions come of themselves.
fn write_rules(transaction: &Connection, rules: &Rules) -> rusqlite::Result<()> {
    // A statement for each rule takes half as long again, of what is a quarter of all that a small import does for identities.
    for rules in rules.all().chunks(RULES_AT_ONCE) {
        let rows = vec!["(?, ?, ?, ?, ?, ?)"; rules.len()].join(", ");
        let sql = format!(
            "INSERT INTO identity_rules (origin, about, field, files, pattern, replacement) VALUES {rows}"
        );
        let texts = rules.iter().flat_map(|rule| {
            [
                rule.origin.word(),
                &rule.about,
                rule.field.word(),
                &rule.files,
                &rule.pattern,
                &rule.replacement,
            ]
        });
        transaction.execute(&sql, params_from_iter(texts))?;
    }
    let sql = "INSERT INTO identity_digests (digest_id, digest, profdb_version) VALUES (1, ?1, ?2)";
    transaction
        .execute(sql, params![rules.digest(), env!("CARGO_PKG_VERSION")])
        .map(drop)
}

/// Calls a function with the number and the definition of each function of the database.
fn each_function(
    connection: &Connection,
    mut visit: impl FnMut(i64, &FunctionDef<'_>) -> Result<(), Cause>,
) -> Result<(), Cause> {
    let sql = "SELECT function_id, kind, name, module, file
               FROM functions
               WHERE function_id > ?1
               ORDER BY function_id
               LIMIT ?2";
    let mut select = connection.prepare(sql)?;
    let mut last = i64::MIN;
    loop {
        // Read before any is changed: rows of a query that goes on would change under it.
        let rows = select.query_map(params![last, FUNCTIONS_AT_ONCE], |row| {
            let kind: String = row.get(1)?;
            Ok((
                row.get(0)?,
                Kind::by_name(&kind).unwrap_or_default(),
                [row.get(2)?, row.get(3)?, row.get(4)?],
            ))
        })?;
        let rows: Vec<(i64, Kind, [String; 3])> = rows.collect::<rusqlite::Result<_>>()?;
        for (function, kind, [name, module, file]) in &rows {
            let def = FunctionDef {
                kind: *kind,
                module,
                file,
                ..FunctionDef::named(name)
            };
            visit(*function, &def)?;
        }
        match rows.last() {
            Some((function, ..)) => last = *function,
            None => return Ok(()),
        }
    }
}

/// Gives a function of the database an identity.
fn give(connection: &Connection, function: i64, identity: &Identity<'_>) -> Result<(), Cause> {
    let id = identity_id(connection, identity, &identity.key())?;
    let sql = "UPDATE functions SET identity_id = ?2 WHERE function_id = ?1";
    connection
        .prepare_cached(sql)?
        .execute([function, id])
        .map(drop)?;
    Ok(())
}

/// The id of an identity, whose row is made if there is none.
pub(super) fn identity_id(
    connection: &Connection,
    identity: &Identity<'_>,
    key: &IdentityKey,
) -> rusqlite::Result<i64> {
    let sql = "SELECT identity_id FROM identities WHERE identity_key = ?1";
    let known = connection
        .prepare_cached(sql)?
        .query_row([key], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let sql = "INSERT INTO identities (class, name, module, file, unnamed, identity_key)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        identity.class.word(),
        identity.name,
        identity.module,
        identity.file,
        identity.is_unnamed(),
        key,
    ])?;
    Ok(connection.last_insert_rowid())
}
