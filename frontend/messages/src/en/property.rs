//! Explore: a property that somebody writes, and what a search says of it.

crate::catalogue::messages! {
    property_title() "Your own property";
    property_hint() "Type a rule about the stored object, or about the order of requests. A column then says for each way of writing whether every order keeps it. If not, you see the shortest order that breaks it.";
    property_label() "A property of every order";
    property_check() "Check it";
    property_remove() "Remove it";
    property_examples() "Examples";
    property_column() "yours";
    property_holds_short() "holds";
    property_broken_short() "broken";
    property_untried_short() "not tried";
    property_unknown_short() "not known";

    // What is wrong in its text.
    property_error(line, column, why) "Line {line}, character {column}: {why}";
    property_error_yaml(why) "this is not YAML: {why}.";
    property_error_begin(known) "a property begins with one of {known}, and a colon.";
    property_error_unknown(key, known) "“{key}” is not known here. A property begins with one of {known}, and a colon.";
    property_error_second(key) "“{key}” is a second property. Write one.";
    property_error_settles() "every order comes to rest here, because each actor sends a limited number of requests.";
    property_error_counts(text) "“{text}” counts objects, and Explore has one. A condition can ask whether it exists.";
    property_error_never(text) "“{text}” is not known after never. Known: lost edit, or a condition.";
    property_error_never_counts(text) "“{text}” is not known after never. Known: lost edit, more than 1 ConfigMap, or a condition.";
    property_error_kind(kind, known) "objects of the kind “{kind}” are not counted here. Known: {known}.";
    property_error_interchangeable(text) "“{text}” cannot be asked: states that differ only in a time or a uid are one state of the search.";
    property_error_yes() "only yes can stand here.";
    property_error_condition(example) "a condition is missing, such as {example}.";
    property_error_condition_key(key, known) "a condition has no “{key}”. It can have: {known}.";
    property_error_path(path) "“{path}” is not the path of a field, such as metadata.name.";
    property_error_field(kind, path, known) "{kind} has no field “{path}”. Known there: {known}.";
    property_error_no_field(kind, path) "{kind} has no field “{path}”.";
    property_error_version(path) "{path} cannot be asked: states that differ only in their version are one state of the search.";
    property_error_two_paths() "two paths are needed, in a list.";
    property_error_text() "text is needed.";
    property_error_flag() "yes or no is needed.";
    property_error_number(text) "“{text}” is not a whole number.";
    property_error_two_parts(example) "two parts are needed, the earlier one first, such as {example}.";
    property_error_part(text) "“{text}” is not known. Known: A reads, A writes, A is refused, or a condition.";
    property_error_actor(actor) "{actor} does not take part. Choose a third actor.";

    // What a search says of it.
    property_counts(holds, ways) "It holds with {holds} of {ways} ways of writing";
    property_counts_broken(count) "is broken with {count}";
    property_counts_untried(count) "was not tried with {count}";
    property_counts_unknown(count) "is not known with {count}";
    property_holds() "Your property holds in every order.";
    property_untried_edit() "No order tried your property: no write came to an object with an edit of another actor.";
    property_untried_condition() "No order tried your property: none changes what the condition looks at.";
    property_untried_before() "No order tried your property: the second part comes in none.";
    property_no_field(fields) "No state that was searched has {fields}. Look at the spelling.";
    property_unknown() "No order so far breaks your property, and not every order was searched.";
    property_broken_at_start() "Your property is broken before the first request.";
    property_broken(steps) "Your property is broken after {steps} {steps|step|steps}, in the shortest order that breaks it";
    property_varied(actors) "Varied: the order of the requests of {actors}";
    property_varied_inside() "the order of the steps in the server";
    property_varied_lost() "whether the answer to one write is lost, and which";
    property_not_varied() "Not varied: what each actor writes, and its write method.";
    property_complete(orders) "Complete: {orders}.";
    property_up_to(states) "Not complete: up to {states} states.";
}
