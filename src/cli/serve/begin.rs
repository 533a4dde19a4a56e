//! Begins to serve: looks at the database, listens, and says where.

use std::io::{self, IsTerminal, Write};

use super::super::database::{DatabaseArgs, find_run, open_to_read};
use super::super::failure::{Failure, complain, database, line, output, say};
use super::super::source::file;
use super::answers::Answers;
use super::browser;
use super::flags::{CarriedOut, Serve};
use crate::base::error::Stop;
use crate::page::{self, Command, Served};
use crate::serve::{Address, Asset, Ended, Secret, Server, serve};

pub(in crate::cli) fn run(
    asked: &Serve,
    program: clap::Command,
    carried_out: CarriedOut,
    stop: &Stop,
) -> Result<(), Failure> {
    let arguments = match &asked.named {
        Some(path) => DatabaseArgs::named(Some(path.clone())),
        None => asked.database.clone(),
    };
    if let Some(path) = asked.run.as_ref().and_then(|set| file(set)) {
        let what = path.display();
        return Err(complain(
            format!("--run: expected a run of the database, found the file {what}"),
            Failure::Usage,
        ));
    }
    let opened = open_to_read(&arguments, stop)?;
    let run = find_run(&opened, asked.run.as_ref(), stop)?;
    let uid = match asked.run {
        None => None,
        Some(_) => opened
            .run_uid(run.run_id)
            .map_err(|error| database(error, stop))?,
    };
    drop(opened);
    let path = arguments.path();
    let served = Served {
        command: Command {
            words: arguments.words(),
            names_run: false,
        },
        name: path.display().to_string(),
        first: uid,
    };
    let address = Address::bind(asked.port).map_err(|error| complain(error, Failure::Limit))?;
    let secret = || {
        Secret::new().map_err(|error| {
            complain(
                format!("cannot get random numbers from the system: {error}"),
                Failure::Limit,
            )
        })
    };
    let is_opened = !asked.no_open && io::stdout().is_terminal();
    let (token, once) = (secret()?, is_opened.then(secret).transpose()?);
    let origin = format!("http://127.0.0.1:{}", address.port());
    line(format_args!("{origin}/{}/", token.word()))?;
    io::stdout().flush().map_err(output)?;
    say(format!(
        "{}: open the address above in a browser on this machine; Ctrl-C stops the server",
        path.display()
    ));
    if let Some(once) = &once {
        browser::open(&format!("{origin}/open/{}", once.word()));
    }
    let mut answers = Answers::new(&path, served, program, carried_out);
    let server = Server {
        address,
        token,
        once,
        assets: assets(),
    };
    let ended = serve(
        server,
        move |question, reply, stop| answers.answer(question, reply, stop),
        stop,
    );
    match ended {
        Ended::Stopped => Err(Failure::Interrupted),
        Ended::Failed(error) => Err(complain(format!("cannot serve: {error}"), Failure::Limit)),
    }
}

/// The files of the page.
fn assets() -> Vec<Asset> {
    vec![
        Asset {
            name: "",
            kind: "text/html; charset=utf-8",
            bytes: page::index().as_bytes().to_vec(),
        },
        Asset {
            name: "page.js",
            kind: "text/javascript; charset=utf-8",
            bytes: page::script().as_bytes().to_vec(),
        },
        Asset {
            name: "page.css",
            kind: "text/css; charset=utf-8",
            bytes: page::style().as_bytes().to_vec(),
        },
    ]
}
