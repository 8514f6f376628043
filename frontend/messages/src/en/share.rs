//! Sharing.

crate::catalogue::messages! {
    share_search() "The edits and how they are sent, not what came of it. Whoever opens it searches again.";
    share_steps(steps) "{steps} {steps|step|steps}, in all branches: what was done, not what came of it. Whoever opens it does it again, at the step where you are.";
    file_too_large(file, megabytes) "{file} has more than {megabytes} MB, which is too much for this page.";
    file_too_many_lines(file, lines) "{file} has more than {lines} lines, which is too much for this page.";
    file_unreadable(file) "The browser could not read {file}.";
    share_left_out() "Left out, because it looks private:";
    share_values() "Values in the link and in the file";
    share_without_private() "Leave out the values that look private";
    share_everything() "Include every value";
    share_found_nothing() "No value looks private. Values are found by their names and shapes. Look at the rest yourself.";
    share_look_yourself() "Whoever has the link can read every value.";
    share_report() "For an issue";
    share_report_says() "Who owns what, what each way of writing would do, the ways out with their commands, and what happened. Values that look private are masked in it.";
    share_save_markdown() "Save as Markdown";
    share_case() "What was brought, and how the change is written. Whoever opens it sees the same case.";
    share_title_case() "Share this case";
    share_title() "Share this session";
    share_title_search() "Share this search";
    share_title_not_opened() "This session cannot be opened";
    share_not_opened() "Not opened.";
    share_still_kept() "It is still kept in this browser, as it was.";
    share_unchanged() "Your session is as it was.";
    share_link(weight) "Link, {weight}";
    share_too_long(weight) "As a link it would be {weight} long, more than browsers and chats carry. Take the file.";
    share_save() "Save as a file";
    share_kept() "Kept sessions";
    share_html() "Save as an HTML file";
    share_html_hint() "The HTML file has what the link has, and all of Optimist. It opens in a browser, also without a network.";
    share_html_reading(done, all) "The HTML file is being made: {done} of {all} parts.";
    share_html_saved(file, weight) "{file} is made, {weight}. The browser saves it.";
    share_html_not_loaded(file) "{file} could not be loaded. There is no connection, or the site has another release by now. Reload the page, and try again.";
    share_html_too_large(weight) "The link in the HTML file would be {weight} long, more than browsers open. Take the file.";
    share_html_refused() "The browser could not make the HTML file.";
    saved_label() "Saved file";
    saved_with(date, version, release) "Saved file of {date}, made with Optimist {version}, release {release}. It works without a network.";
    saved_again() "Show what was saved";
    saved_site() "Optimist on the web";
    saved_title(what) "{what} – Optimist";
    saved_title_search(object) "Explore {object}";
}
