//! HTTP/1.1 to a server behind an address: a request as bytes, the head of an answer, its body.

use std::io::{self, BufRead, Read};

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};

/// The longest head of an answer.
const MAX_HEAD: u64 = 1024 * 1024;

/// A request as it goes over the wire.
pub(super) fn bytes(request: &Request<Vec<u8>>, authority: &str, prefix: &str) -> Vec<u8> {
    let mut bytes = format!(
        "{} {prefix}{} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: {}\r\n",
        request.method(),
        request.uri(),
        request.body().len()
    )
    .into_bytes();
    for (name, value) in request.headers() {
        let parts: [&[u8]; 4] = [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"];
        bytes.extend(parts.concat());
    }
    bytes.extend(b"\r\n");
    bytes.extend(request.body());
    bytes
}

/// Reads the head of an answer.
pub(super) fn head(reader: &mut impl BufRead) -> io::Result<Response<()>> {
    let bad = || io::Error::new(io::ErrorKind::InvalidData, "no head of an HTTP answer");
    let mut lines = reader.take(MAX_HEAD);
    let mut line = String::new();
    if lines.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let code = line.split(' ').nth(1).ok_or_else(bad)?;
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::from_bytes(code.as_bytes()).map_err(|_| bad())?;
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Err(bad());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            return Ok(response);
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let value = HeaderValue::from_str(value.trim()).map_err(|_| bad())?;
        response.headers_mut().append(name, value);
    }
}

/// The body of an answer.
pub(super) struct Chunks<'a, R> {
    reader: &'a mut R,
    /// The bytes that are left of the body or of a chunk of it.
    left: u64,
    is_chunked: bool,
    is_over: bool,
}

impl<'a, R: BufRead> Chunks<'a, R> {
    /// The body after this head, of a request with this method (RFC 9112, 6.3).
    pub(super) fn new(head: &Response<()>, method: &Method, reader: &'a mut R) -> Self {
        let header = |name| head.headers().get(name)?.to_str().ok();
        let is_chunked = header(TRANSFER_ENCODING).is_some_and(|it| it.ends_with("chunked"));
        let length = header(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let is_empty = *method == Method::HEAD
            || [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED].contains(&head.status());
        let left = match (is_chunked, length) {
            (true, _) => 0,
            (false, Some(length)) => length,
            // Until the server closes the connection.
            (false, None) => u64::MAX,
        };
        Self {
            reader,
            left,
            is_chunked,
            is_over: is_empty,
        }
    }

    /// Begins the next chunk; `false` if there is none.
    fn next_chunk(&mut self) -> io::Result<bool> {
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let digits = line.trim().split(';').next().unwrap_or_default();
        let length = u64::from_str_radix(digits, 16);
        self.left = length.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        if self.left == 0 {
            self.end_of_chunk()?;
        }
        Ok(self.left > 0)
    }

    fn end_of_chunk(&mut self) -> io::Result<()> {
        self.reader.read_line(&mut String::new()).map(drop)
    }
}

impl<R: BufRead> Read for Chunks<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over || buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 && !(self.is_chunked && self.next_chunk()?) {
            self.is_over = true;
            return Ok(0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let read = self.reader.read(&mut buffer[..most])?;
        self.left -= read as u64;
        if read == 0 {
            self.is_over = true;
        } else if self.is_chunked && self.left == 0 {
            self.end_of_chunk()?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str) -> io::Result<(u16, String)> {
        let mut reader = answer.as_bytes();
        let head = head(&mut reader)?;
        let mut body = String::new();
        Chunks::new(&head, &Method::GET, &mut reader).read_to_string(&mut body)?;
        Ok((head.status().as_u16(), body))
    }

    #[test]
    fn a_body_has_a_length_or_chunks_or_lasts_to_the_end() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc";
        assert_eq!(read(whole).unwrap(), (200, "ab".to_owned()));
        let chunks = "HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(read(chunks).unwrap(), (409, "abc".to_owned()));
        assert_eq!(
            read("HTTP/1.1 200 OK\r\n\r\nabc").unwrap(),
            (200, "abc".to_owned())
        );
        for bad in ["", "HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let bad = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n";
        assert!(read(bad).is_err());
    }
}
