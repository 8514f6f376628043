//! Passwords behind short options of commands: `mysql -p x`.

use std::ops::Range;

use super::PrivateSpan;
use super::names::by_name;

/// Commands with a short option for a password, and the option. Of some the value may follow at once.
const COMMANDS: [(&str, &str); 24] = [
    ("mysql", "-p"),
    ("mysqldump", "-p"),
    ("mysqladmin", "-p"),
    ("mysqlimport", "-p"),
    ("mysqlcheck", "-p"),
    ("mariadb", "-p"),
    ("mariadb-dump", "-p"),
    ("mariadb-admin", "-p"),
    ("sshpass", "-p"),
    ("mongo", "-p"),
    ("mongosh", "-p"),
    ("mongodump", "-p"),
    ("mongorestore", "-p"),
    ("docker", "-p"),
    ("podman", "-p"),
    ("rabbitmqadmin", "-p"),
    ("cqlsh", "-p"),
    ("sqlcmd", "-P"),
    ("redis-cli", "-a"),
    ("ldapsearch", "-w"),
    ("ldapadd", "-w"),
    ("zip", "-P"),
    ("unzip", "-P"),
    ("curl", "-u"),
];

/// The option for a password of a command.
pub(super) fn option_of(word: &str) -> Option<&'static str> {
    let name = word.rsplit('/').next().unwrap_or_default();
    let found = COMMANDS.iter().find(|(command, _)| *command == name);
    found.map(|(_, option)| *option)
}

/// The part of an argument that is private behind or in a short option: all of the next one
/// (`-p x`), or the rest of this one (`-px`).
pub(super) fn short_option(option: &str, argument: &str) -> Option<ShortOption> {
    if argument == option {
        return Some(ShortOption::Next);
    }
    let rest = argument.strip_prefix(option)?;
    let at_once = matches!(option, "-p" | "-u")
        && !rest.starts_with('-')
        && !rest.chars().all(|c| c.is_ascii_digit() || c == ':');
    (at_once && !argument.starts_with("--")).then_some(ShortOption::Rest(option.len()))
}

/// The place of the value of a short option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShortOption {
    Next,
    Rest(usize),
}

/// Finds passwords behind short options of known commands, line by line.
pub(super) fn find(text: &str, found: &mut Vec<PrivateSpan>) {
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let (mut option, mut takes) = (None, false);
        let (makes_secret, mut names_literal) = (line.contains("create secret"), false);
        phrases(line, begin, found);
        let mut at = begin;
        for word in line.split([
            ' ', '\t', '\n', '"', '\'', '`', ',', '[', ']', '(', ')', '|', ';',
        ]) {
            let range = at..at + word.len();
            at = range.end + 1;
            if word.is_empty() || word == "\\" {
                continue;
            }
            if std::mem::take(&mut takes) && !word.starts_with('-') {
                found.extend(behind_user(option, word, range.clone()));
                continue;
            }
            if makes_secret && let Some(skip) = literal(&mut names_literal, word) {
                found.push(PrivateSpan::new(range.start + skip..range.end, "a secret"));
                continue;
            }
            if let Some(of) = option_of(word) {
                option = Some(of);
            } else if let Some(of) = option {
                match short_option(of, word) {
                    Some(ShortOption::Next) => takes = true,
                    Some(ShortOption::Rest(skip)) => {
                        let rest = range.start + skip..range.end;
                        found.extend(behind_user(option, &word[skip..], rest));
                    }
                    None => takes = of == "-u" && word == "--user",
                }
            }
        }
        begin += line.len();
    }
}

/// The password in the value of an option. Behind `-u` the name of the user comes first.
fn behind_user(option: Option<&str>, value: &str, range: Range<usize>) -> Option<PrivateSpan> {
    let user = match option {
        Some("-u") => value.find(':')? + 1,
        _ => 0,
    };
    Some(PrivateSpan::new(
        range.start + user..range.end,
        "a password",
    ))
}

/// Returns the position of the value in `--from-literal=NAME=VALUE`, or in `NAME=VALUE` behind
/// `--from-literal`.
fn literal(names_literal: &mut bool, word: &str) -> Option<usize> {
    const OPTION: &str = "--from-literal";
    let is_behind = std::mem::replace(names_literal, word == OPTION);
    let begin = match word.strip_prefix(OPTION) {
        Some(rest) => word.len() - rest.strip_prefix('=')?.len(),
        None if is_behind => 0,
        None => return None,
    };
    let equals = word.get(begin..)?.find('=')?;
    Some(begin + equals + 1)
}

/// Finds passwords that stand behind words of a command, and behind no option.
fn phrases(line: &str, begin: usize, found: &mut Vec<PrivateSpan>) {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for word in line.split([
        ' ', '\t', '\n', '"', '\'', '`', ',', '[', ']', '(', ')', '|', ';', '\\',
    ]) {
        if !word.is_empty() {
            words.push(at..at + word.len());
        }
        at += word.len() + 1;
    }
    let word = |at: usize| words.get(at).map_or("", |range| &line[range.clone()]);
    let mut private = |at: usize, skip: usize| {
        if let Some(range) = words.get(at).filter(|it| !it.is_empty()) {
            let range = begin + range.start + skip..begin + range.end;
            found.push(PrivateSpan::new(range, "a password"));
        }
    };
    let is_value = |at: usize| !word(at).is_empty() && !word(at).starts_with('-');
    for at in 0..words.len() {
        match (word(at), word(at + 1)) {
            ("vault", "login") if is_value(at + 2) => private(at + 2, 0),
            ("vault", "kv") if word(at + 2) == "put" => {
                for pair in at + 4..words.len() {
                    if let Some(equals) = word(pair).find('=') {
                        private(pair, equals + 1);
                    }
                }
            }
            ("AUTH", _) if line.contains("redis") && is_value(at + 1) => private(at + 1, 0),
            ("configure", "set") if by_name(word(at + 2)).is_some() => private(at + 3, 0),
            ("echo", _) if line.contains("--password-stdin") => {
                private(at + 1 + usize::from(word(at + 1) == "-n"), 0);
            }
            ("htpasswd", "-b") => private(at + 4, 0),
            ("-U", user) if line.contains("smbclient") => {
                if let Some(percent) = user.find('%') {
                    private(at + 1, percent + 1);
                }
            }
            ("SET", "PASSWORD") => {
                let equals = (at..words.len()).find(|it| word(*it) == "=");
                if let Some(equals) = equals {
                    private(equals + 1, 0);
                }
            }
            _ => {}
        }
    }
}
