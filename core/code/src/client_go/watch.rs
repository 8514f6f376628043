//! A watch as Go code.

use super::{Go, indent};

impl Go<'_> {
    /// A function that prints the events of a watch, until the server ends it: an answer that is read whole would
    /// print nothing before.
    pub(super) fn watch(&mut self, request: &str) -> String {
        for package in ["context", "encoding/json", "fmt"] {
            self.imports.add(package);
        }
        let meta = self.imports.meta();
        let body = format!(
            "stream, err := {request}.Stream(ctx)\n\
             if err != nil {{\n\treturn err\n}}\n\
             defer stream.Close()\n\
             for events := json.NewDecoder(stream); ; {{\n\
             \tvar event {meta}.WatchEvent\n\
             \tif err := events.Decode(&event); err != nil {{\n\t\treturn err\n\t}}\n\
             \tfmt.Println(event.Type, string(event.Object.Raw))\n}}\n"
        );
        format!(
            "func watch(ctx context.Context, client kubernetes.Interface) error {{\n{}}}\n",
            indent(&body)
        )
    }
}
