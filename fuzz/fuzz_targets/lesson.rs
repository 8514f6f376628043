//! Lessons: any text is one or has a mistake that is named, and any lesson can be held to what it
//! says.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use optimist_lesson::{Lesson, check_lesson};

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(lesson) = Lesson::parse(text)
    {
        prove(&Arc::new(lesson));
    }
});
