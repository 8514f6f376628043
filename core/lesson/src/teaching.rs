//! The notes for teachers: Markdown with a part for each path through the lessons, and in it a part for each lesson.

/// The notes about a lesson in one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeacherNotes {
    /// The title of the path.
    pub path: String,
    /// Questions, expected answers and things to show: text with the markup of a lesson.
    pub text: String,
}

/// Returns what the notes say about a lesson, for each path that has it.
pub fn teacher_notes(notes: &str, lesson: &str) -> Vec<TeacherNotes> {
    let paths = notes.split("\n## ").skip(1);
    let parts = paths.filter_map(|part| {
        let (path, rest) = part.split_once('\n')?;
        let mut lessons = rest.split("\n### `").skip(1);
        let text = lessons.find_map(|part| part.strip_prefix(lesson)?.strip_prefix("`\n"))?;
        Some(TeacherNotes {
            path: path.to_owned(),
            text: text.trim().to_owned(),
        })
    });
    parts.collect()
}
