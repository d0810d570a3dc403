//! Messages between rank 0 and each of the others: a mark, their length, and JSON.

use super::memory::Memory;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// What every message begins with; the number rises with changes of the messages.
const MARK: [u8; 8] = *b"tilesc-2";

/// The most bytes of a message.
const MOST: usize = 1 << 20;

/// A message.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// A process presents itself to rank 0.
    Hello(Hello),
    /// All have come and make the same run: the bytes of NCCL's group.
    Go(Vec<u8>),
    /// The run is not made, in a sentence.
    Refused(String),
    /// The process runs.
    Alive,
    /// A rank ended before the run was done.
    Lost(usize),
    /// Rank 0 has printed and saved everything; whether the run was a success.
    Done(bool),
}

/// What a process says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// That of the program.
    pub version: String,
    pub rank: usize,
    pub count: usize,
    /// All that decides how the run is made, line by line.
    pub run: String,
    /// The version of NCCL and which GPU of which machine it has, or why this process cannot take part.
    pub ready: Result<Ready, String>,
}

/// What a process brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ready {
    pub nccl: String,
    pub gpu: String,
    pub memory: Memory,
}

/// Writes a message.
///
/// # Errors
/// Those of the stream.
pub(super) fn write(to: &mut impl Write, message: &Message) -> io::Result<()> {
    let json = serde_json::to_vec(message)?;
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    // At once, so that no other thread's message comes between.
    let bytes = [&MARK[..], &length.to_le_bytes(), &json].concat();
    to.write_all(&bytes)
}

/// Reads a message.
///
/// # Errors
/// Those of the stream, and [`io::ErrorKind::InvalidData`] of what is not a message.
pub(super) fn read(from: &mut impl Read) -> io::Result<Message> {
    let is_no_message = || io::Error::from(io::ErrorKind::InvalidData);
    let (mut mark, mut length) = ([0; MARK.len()], [0; 4]);
    from.read_exact(&mut mark)?;
    if mark != MARK {
        return Err(is_no_message());
    }
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST {
        return Err(is_no_message());
    }
    let mut json = vec![0; length];
    from.read_exact(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent_and_nothing_else_is_taken_for_one() {
        let (nccl, gpu, memory) = ("2.28.3".to_owned(), "ab".to_owned(), Memory::of_this(1));
        let ready = Ready { nccl, gpu, memory };
        let hello = Hello {
            version: "0.1.0".to_owned(),
            rank: 1,
            count: 2,
            run: "k = 8\n".to_owned(),
            ready: Ok(ready),
        };
        let sent =
            [Message::Hello(hello), Message::Go(vec![1, 2]), Message::Lost(3), Message::Done(true)];
        let mut bytes = Vec::new();
        for message in &sent {
            write(&mut bytes, message).unwrap();
        }
        let mut left = &bytes[..];
        for message in &sent {
            assert_eq!(read(&mut left).unwrap(), *message);
        }
        assert_eq!(read(&mut left).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        let stranger = read(&mut &b"GET / HTTP/1.1\r\n\r\n"[..]);
        assert_eq!(stranger.unwrap_err().kind(), io::ErrorKind::InvalidData);
        // A length that no memory is taken for.
        let long = [&MARK[..], &[0xff; 4]].concat();
        assert_eq!(read(&mut &long[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
