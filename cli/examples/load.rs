//! Puts load on `optimist serve`, and checks that every watch sees every change once and in order:
//!
//! ```sh
//! cargo build --release -p optimist --bin optimist
//! cargo run --release -p optimist --example load -- target/release/optimist 1000 2000 30
//! ```
//!
//! The arguments are the program, how many watches there are, how many writes a second, and for how many
//! seconds; more arguments go to `optimist serve`. A soak is the same for longer: nothing is collected here. The
//! server listens on the loopback interface. Exit code 1: a watch missed a change, saw one twice, or saw it late.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Error, ErrorKind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::{JoinHandle, LocalSet};

/// In so many namespaces is written, by one client each.
const NAMESPACES: usize = 50;

/// So long the watches may take to see the last changes.
const PATIENCE: Duration = Duration::from_secs(60);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The writes in a namespace: the numbers from 1, one after the other.
#[derive(Default)]
struct NumberedWrites {
    newest: Cell<u64>,
    is_done: Cell<bool>,
}

/// A connection to the server.
struct ServerConnection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl ServerConnection {
    async fn open(authority: &str) -> Result<Self> {
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        let read = Vec::new();
        Ok(Self { stream, read })
    }

    /// Sends a request, and reads the head of its answer: the code, and how long the body is unless it comes in
    /// chunks.
    async fn read_head(
        &mut self,
        method: &str,
        target: &str,
        body: &str,
    ) -> Result<(u16, Option<usize>)> {
        let media = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: load\r\nContent-Type: {media}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.put(request.as_bytes()).await?;
        let head = String::from_utf8(self.until(b"\r\n\r\n").await?)?.to_lowercase();
        let code = head.split(' ').nth(1).ok_or("no status line")?.parse()?;
        let mut lengths = head
            .lines()
            .filter_map(|it| it.strip_prefix("content-length: "));
        Ok((code, lengths.next().map(str::parse).transpose()?))
    }

    /// Sends a request, and reads its answer.
    async fn send(&mut self, method: &str, target: &str, body: &str) -> Result<u16> {
        match self.read_head(method, target, body).await? {
            (code, Some(length)) => self.read_exact(length).await.map(|_| code),
            (code, None) => {
                while !self.chunk().await?.is_empty() {}
                Ok(code)
            }
        }
    }

    /// The next part of an answer that streams; empty at its end.
    async fn chunk(&mut self) -> Result<Vec<u8>> {
        let length = String::from_utf8(self.until(b"\r\n").await?)?;
        let chunk = self.read_exact(usize::from_str_radix(&length, 16)?).await?;
        self.read_exact(2).await?;
        Ok(chunk)
    }

    /// Takes the text up to a mark, without it.
    async fn until(&mut self, mark: &[u8]) -> Result<Vec<u8>> {
        loop {
            let found = self
                .read
                .windows(mark.len())
                .position(|window| window == mark);
            if let Some(at) = found {
                let rest = self.read.split_off(at + mark.len());
                let mut taken = std::mem::replace(&mut self.read, rest);
                taken.truncate(at);
                return Ok(taken);
            }
            self.fill().await?;
        }
    }

    async fn read_exact(&mut self, length: usize) -> Result<Vec<u8>> {
        while self.read.len() < length {
            self.fill().await?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    async fn fill(&mut self) -> Result<()> {
        let mut bytes = [0; 16 * 1024];
        loop {
            self.stream.readable().await?;
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return Err("the server closed the connection".into()),
                Ok(length) => {
                    self.read.extend_from_slice(&bytes[..length]);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Writes numbers into an object at equal distances, as long as there is time.
async fn write(
    authority: &str,
    map: String,
    written: Rc<NumberedWrites>,
    every: Duration,
    end: Instant,
) -> Result<()> {
    let mut connection = ServerConnection::open(authority).await?;
    let mut ticks = tokio::time::interval(every);
    while !written.is_done.get() {
        ticks.tick().await;
        let number = written.newest.get() + 1;
        // The watches end with the last write, which they know before they see it.
        let is_last = Instant::now() >= end;
        if is_last {
            written.newest.set(number);
            written.is_done.set(true);
        }
        let patch = format!(r#"{{"data":{{"number":"{number}"}}}}"#);
        let code = connection.send("PATCH", &map, &patch).await?;
        if code != 200 {
            return Err(format!("write {number} of {map} was answered with {code}").into());
        }
        written.newest.set(number);
    }
    Ok(())
}

/// Watches until everything that was written is seen. Returns the number of events.
async fn watch(mut connection: ServerConnection, written: Rc<NumberedWrites>) -> Result<u64> {
    let mut seen = 0;
    let mut rest = String::new();
    while !written.is_done.get() || seen < written.newest.get() {
        let chunk = connection.chunk().await?;
        if chunk.is_empty() {
            return Err("the server ended a watch".into());
        }
        rest.push_str(std::str::from_utf8(&chunk)?);
        while let Some((line, after)) = rest.split_once('\n') {
            let number = line
                .split_once(r#""number":""#)
                .ok_or("an event without a number")?
                .1;
            let number: u64 = number.split('"').next().unwrap_or_default().parse()?;
            if number != seen + 1 {
                return Err(format!("a watch saw {number} after {seen}").into());
            }
            seen = number;
            rest = after.to_owned();
        }
    }
    Ok(seen)
}

/// Starts the server. Where it is.
fn start(program: &str, more: &[String]) -> Result<(Child, String)> {
    let mut child = Command::new(program)
        .args(["serve", "--insecure-http", "--output", "json"])
        .args(more)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("no output")?;
    let mut ready = String::new();
    BufReader::new(output).read_line(&mut ready)?;
    let ready: serde_json::Value = serde_json::from_str(&ready)?;
    let url = ready["url"].as_str().unwrap_or_default();
    Ok((child, url.trim_start_matches("http://").to_owned()))
}

/// The processor time of a process in seconds, and its memory in MB, where Linux says so.
fn used(process: u32) -> Option<(f64, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let times = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(2);
    let ticks: u64 = times.filter_map(|it| it.parse::<u64>().ok()).sum();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let memory = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let memory: u64 = memory.trim().trim_end_matches(" kB").parse().ok()?;
    Some((ticks as f64 / 100.0, memory / 1024))
}

/// A count from the command line, from 1 to a limit.
fn count(arguments: &[String], at: usize, most: u64) -> Result<u64> {
    let given = arguments
        .get(at)
        .ok_or("load PROGRAM WATCHES WRITES SECONDS [ARGUMENT OF SERVE]...")?;
    let number: u64 = given.parse()?;
    match (1..=most).contains(&number) {
        true => Ok(number),
        false => Err(format!("{number} is not from 1 to {most}").into()),
    }
}

/// Creates the namespaces with a ConfigMap each. Returns the paths of the ConfigMaps, and the counters of their writes.
async fn create_namespaces(authority: &str) -> Result<Vec<(String, Rc<NumberedWrites>)>> {
    let mut setup = ServerConnection::open(authority).await?;
    let mut namespaces = Vec::new();
    for number in 0..NAMESPACES {
        let name = format!("load-{number}");
        let namespace = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        let maps = format!("/api/v1/namespaces/{name}/configmaps");
        let map = r#"{"metadata":{"name":"map"},"data":{"number":"0"}}"#;
        for (target, body) in [("/api/v1/namespaces", namespace.as_str()), (&maps, map)] {
            let code = setup.send("POST", target, body).await?;
            if code != 201 {
                return Err(format!("POST {target} was answered with {code}").into());
            }
        }
        namespaces.push((maps, Rc::new(NumberedWrites::default())));
    }
    Ok(namespaces)
}

/// Opens watches, one namespace after the other, and reads them until each has seen the last write.
async fn open_watches(
    authority: &str,
    namespaces: &[(String, Rc<NumberedWrites>)],
    watches: u64,
    timeout: u64,
) -> Result<Vec<JoinHandle<std::result::Result<u64, Error>>>> {
    let mut open = Vec::new();
    for number in 0..watches {
        let (maps, written) = &namespaces[number as usize % NAMESPACES];
        let mut connection = ServerConnection::open(authority).await?;
        // From now on: no version is the newest one, with what there is.
        let target = format!("{maps}?watch=1&timeoutSeconds={timeout}");
        let (code, _) = connection.read_head("GET", &target, "").await?;
        if code != 200 {
            return Err(format!("GET {target} was answered with {code}").into());
        }
        // The object as it is now.
        connection.chunk().await?;
        open.push(tokio::task::spawn_local(with_text_error(watch(
            connection,
            Rc::clone(written),
        ))));
    }
    Ok(open)
}

async fn load(arguments: &[String], authority: &str, process: u32) -> Result<()> {
    let (watches, rate) = (count(arguments, 1, 10_000)?, count(arguments, 2, 100_000)?);
    let seconds = count(arguments, 3, 7 * 24 * 3600)?;
    let namespaces = create_namespaces(authority).await?;
    let open = open_watches(authority, &namespaces, watches, seconds + 600).await?;
    println!("{watches} watches are open");
    let (begin, before) = (Instant::now(), used(process));
    let end = begin + Duration::from_secs(seconds);
    let every = Duration::from_secs_f64(NAMESPACES as f64 / rate as f64);
    let writers = namespaces.iter().map(|(maps, written)| {
        let (authority, map, written) = (
            authority.to_owned(),
            format!("{maps}/map"),
            Rc::clone(written),
        );
        tokio::task::spawn_local(with_text_error(async move {
            write(&authority, map, written, every, end).await
        }))
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await??;
    }
    let took = begin.elapsed().as_secs_f64();
    let mut events = 0;
    for watch in open {
        let seen = tokio::time::timeout(PATIENCE, watch).await;
        events += seen.map_err(|_| "a watch did not see the last changes in time")???;
    }
    let writes: u64 = namespaces
        .iter()
        .map(|(_, written)| written.newest.get())
        .sum();
    println!(
        "{writes} writes in {took:.1} s, {:.0} a second; {events} events, each seen once and in order",
        writes as f64 / took
    );
    if let (Some((before, _)), Some((after, memory))) = (before, used(process)) {
        println!(
            "the server used {:.1} s of processor time, and has {memory} MB of memory",
            after - before
        );
    }
    Ok(())
}

/// Errors as texts, which tasks can hand over.
async fn with_text_error<T>(run: impl Future<Output = Result<T>>) -> std::result::Result<T, Error> {
    run.await.map_err(|error| Error::other(error.to_string()))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let run = || -> Result<()> {
        let program = arguments.first().map_or("optimist", String::as_str);
        let (mut child, authority) = start(program, arguments.get(4..).unwrap_or_default())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let done = LocalSet::new().block_on(&runtime, load(&arguments, &authority, child.id()));
        child.kill()?;
        child.wait()?;
        done
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::from(1)
        }
    }
}
