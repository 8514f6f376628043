use serde_json::{Value, json};

use super::*;

fn declared(schema: &Value) -> Arc<Declared> {
    Declared::from_schema(schema, false).unwrap()
}

/// Returns the outcome of a rule on a value of a schema.
fn outcome(schema: Value, value: Value, rule: &str) -> Outcome {
    let declared = declared(&schema);
    let program = Program::compile(rule, &declared, false, Wanted::Bool);
    let program = program.unwrap_or_else(|why| panic!("{rule}: {why:?}"));
    let subject = Subject::new(&value, None, &schema);
    Evaluator::default().run(&program, &subject, false).0
}

/// Returns the problem of a rule.
fn wrong(schema: Value, rule: &str) -> String {
    let declared = declared(&schema);
    match Program::compile(rule, &declared, false, Wanted::Bool) {
        Err(Unusable::Wrong(why)) => why,
        other => panic!("{rule}: {other:?}"),
    }
}

#[track_caller]
fn all_hold(rules: &[&str]) {
    for rule in rules {
        let found = outcome(json!({"type": "integer"}), json!(1), rule);
        assert_eq!(found, Outcome::Bool(true), "{rule}");
    }
}

#[test]
fn operators_bind_as_in_other_languages() {
    all_hold(&[
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "10 - 2 - 3 == 5",
        "-self == -1",
        "!false && !!true",
        "7 % 4 == 3 && -7 / 2 == -3",
        "true || false && false",
        "self == 1 ? 'a' == 'a' : false",
        "0x10 == 16 && 5u == uint(5) && 1.5e3 == 1500.0",
        r#"'\u00e9' == "é" && r'\n'.size() == 2 && b'abc'.size() == 3"#,
        "// a remark\n true",
        "1 < 2.5 && 2u > 1",
        "[1, 2] + [3] == [1, 2, 3]",
        "{'a': 1}.a == 1 && {'a': 1}['a'] == 1 && 'a' in {'a': 1}",
        "type(self) == int && type([]) == list",
    ]);
}

#[test]
fn loops_are_what_their_macros_stand_for() {
    all_hold(&[
        "[1, 2, 3].all(x, x > 0)",
        "[1, 2, 3].exists(x, x == 2)",
        "[1, 2, 3].exists_one(x, x > 2)",
        "[1, 2, 3].filter(x, x > 1) == [2, 3]",
        "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
        "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
        "{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])",
        "[[1], [2, 3]].all(l, l.all(x, x > 0))",
        "[1, 2].all(i, v, v == i + 1)",
        "{'a': 1}.transformList(k, v, k + string(v)) == ['a1']",
        "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
        "[3, 1, 2].sortBy(x, -x) == [3, 2, 1]",
    ]);
}

#[test]
fn an_error_does_not_matter_where_another_term_decides() {
    all_hold(&[
        "1 / 0 == 1 || true",
        "!(1 / 0 == 1 && false)",
        "[0, 1].exists(x, 1 / x == 1)",
    ]);
    let failed = outcome(json!({"type": "integer"}), json!(0), "1 / self == 1");
    assert_eq!(failed, Outcome::Failed("division by zero".to_owned()));
}

#[test]
fn values_that_may_be_absent() {
    all_hold(&[
        "optional.of(1).hasValue() && !optional.none().hasValue()",
        "optional.of(1).value() == 1 && optional.none().orValue(2) == 2",
        "{'a': 1}[?'a'].orValue(0) == 1 && {'a': 1}.?b.orValue(5) == 5",
        "optional.of(2).optMap(x, x * 2) == optional.of(4)",
        "[1, ?optional.none()] == [1]",
        "[1, 2].first() == optional.of(1)",
    ]);
}

#[test]
fn functions_of_strings() {
    all_hold(&[
        "'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')",
        "'hello'.matches('^h.*o$') && 'tacocat'.charAt(3) == 'o'",
        "'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3 && 'hello'.indexOf('x') == -1",
        "'hello'.indexOf('l', 3) == 3 && 'hello'.lastIndexOf('l', 2) == 2",
        "'a,b,c'.split(',') == ['a', 'b', 'c'] && 'abc'.split('', 2) == ['a', 'bc']",
        "['a', 'b'].join('-') == 'a-b' && 'AbC'.lowerAscii() == 'abc'",
        "'aXbX'.replace('X', '', 1) == 'abX' && ' x '.trim() == 'x'",
        "'hello'.substring(1, 3) == 'el'",
        "'%s is %d'.format(['x', 2]) == 'x is 2' && strings.quote('a') == '\"a\"'",
        "'abc 123'.find('[0-9]+') == '123' && '1 22 333'.findAll('[0-9]+', 2) == ['1', '22']",
        "size('é') == 1",
    ]);
}

#[test]
fn functions_of_lists_and_sets() {
    all_hold(&[
        "[1, 2, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0 && [1, 3, 2].max() == 3",
        "['b', 'a'].min() == 'a' && [1, 2, 1].lastIndexOf(1) == 2",
        "[1, 2, 3, 4].slice(1, 3) == [2, 3] && [[1], [2]].flatten() == [1, 2]",
        "[3, 1].sort() == [1, 3] && [1, 1, 2].distinct() == [1, 2] && [1, 2].reverse() == [2, 1]",
        "lists.range(3) == [0, 1, 2]",
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1]) && sets.intersects([1], [1, 2])",
    ]);
}

#[test]
fn durations_and_points_in_time() {
    all_hold(&[
        "duration('1h30m') == duration('90m') && duration('1h').getMinutes() == 60",
        "timestamp('2024-02-29T12:30:00Z').getDate() == 29",
        "timestamp('2024-01-01T00:00:00Z').getDayOfWeek() == 1",
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "timestamp('2024-01-01T01:00:00+01:00') == timestamp('2024-01-01T00:00:00Z')",
        "timestamp('2024-01-01T00:00:00Z').getHours('+02:00') == 2",
        "string(timestamp('2024-01-01T00:00:00.5Z')) == '2024-01-01T00:00:00.5Z'",
        "string(duration('1h30m')) == '5400s' && int(timestamp('1970-01-01T00:01:00Z')) == 60",
    ]);
}

#[test]
fn libraries_of_kubernetes() {
    all_hold(&[
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').add(1) == quantity('2')",
        "isQuantity('100m') && !isQuantity('x') && quantity('1500m').asApproximateFloat() == 1.5",
        "sign(quantity('-1')) == -1 && quantity('2k').asInteger() == 2000",
        "isIP('10.0.0.1') && !isIP('10.0.0.256') && ip('::1').family() == 6 && ip('::1').isLoopback()",
        "!ip.isCanonical('2001:db8::0001') && ip.isCanonical('2001:db8::1')",
        "isCIDR('10.0.0.0/8') && cidr('10.0.0.0/8').containsIP('10.1.2.3')",
        "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16')) && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
        "string(cidr('10.0.0.0/8').ip()) == '10.0.0.0' && cidr('10.0.0.0/8').prefixLength() == 8",
        "url('https://a.example:80/x?k=1&k=2').getHost() == 'a.example:80'",
        "url('https://a.example:80/x?k=1').getHostname() == 'a.example' && url('/x y').getEscapedPath() == '/x%20y'",
        "url('https://a.example/x?k=1&k=2').getQuery() == {'k': ['1', '2']} && !isURL('a')",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
        "isSemver('1.0.0') && !isSemver('1.0') && isSemver('v1.0', true) && semver('1.2.3').minor() == 2",
        "!format.dns1123Label().validate('a-b').hasValue() && format.dns1123Label().validate('A').hasValue()",
        "format.named('uuid').hasValue() && !format.named('other').hasValue()",
    ]);
}

#[test]
fn values_have_the_types_of_their_schema() {
    let of = |format: &str| json!({"type": "string", "format": format});
    for (schema, value, rule) in [
        (of("byte"), json!("YWJj"), "self == b'abc'"),
        (of("duration"), json!("1h"), "self == duration('60m')"),
        (of("date"), json!("2024-01-02"), "self.getDate() == 2"),
        (
            of("date-time"),
            json!("2024-01-02T03:04:05Z"),
            "self.getHours() == 3",
        ),
        (
            json!({"type": "number"}),
            json!(2),
            "self == 2.0 && type(self) == double",
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!("5%"),
            "type(self) == string && self == '5%'",
        ),
        (
            json!({"type": "object", "properties": {"namespace": {"type": "string"}, "a-b": {"type": "string"}}}),
            json!({"namespace": "x", "a-b": "y"}),
            "self.__namespace__ == 'x' && self.a__dash__b == 'y'",
        ),
        (
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            json!(["a", "b"]),
            "self == ['b', 'a'] && self + ['a'] == self",
        ),
    ] {
        let found = outcome(schema, value, rule);
        assert_eq!(found, Outcome::Bool(true), "{rule}");
    }
}

#[test]
fn what_does_not_compile_is_named_with_its_place() {
    let object = || json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    assert_eq!(
        wrong(object(), "self.y == 1"),
        "compilation failed: ERROR: <input>:1:5: undefined field 'y'\n | self.y == 1\n | ....^"
    );
    assert_eq!(
        wrong(object(), "self.x == 'a'"),
        "compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to \
         '(int, string)'\n | self.x == 'a'\n | .......^"
    );
    assert_eq!(
        wrong(object(), "foo(1)"),
        "compilation failed: ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n \
         | foo(1)\n | ...^"
    );
    assert_eq!(
        wrong(object(), "self.x"),
        "cel expression must evaluate to a bool"
    );
    for rule in [
        "self.x ==",
        "self.x == 1)",
        "self..x",
        "self.x == 'a",
        "[1, 'a'] == []",
    ] {
        let why = wrong(object(), rule);
        assert!(
            why.starts_with("compilation failed: ERROR: <input>:1:"),
            "{why}"
        );
    }
}

#[test]
fn what_a_schema_bounds_costs_less() {
    let list = |bounds: Value| {
        let mut schema = json!({"type": "array", "items": {"type": "string"}});
        for (name, value) in bounds.as_object().unwrap() {
            schema[name] = value.clone();
        }
        let declared = declared(&schema);
        let rule = "self.all(x, self.all(y, x == y))";
        let program = Program::compile(rule, &declared, false, Wanted::Bool).unwrap();
        program.max_cost
    };
    assert!(list(json!({})) > 10_000_000);
    assert!(list(json!({"maxItems": 10, "items": {"type": "string", "maxLength": 5}})) < 10_000);
}

#[test]
fn no_rule_runs_longer_than_its_cost_allows() {
    let schema = json!({"type": "array", "items": {"type": "integer"}});
    let many = Value::from((0..2000).collect::<Vec<i32>>());
    let rule = "self.all(x, self.all(y, x >= 0 || y >= 0))";
    assert_eq!(outcome(schema, many, rule), Outcome::TooCostly);
    all_hold(&["!(lists.range(10).size() > 10)"]);
    let endless = outcome(
        json!({"type": "integer"}),
        json!(1),
        "lists.range(1000000000).size() > 0",
    );
    assert_eq!(endless, Outcome::TooCostly);
}

#[test]
fn what_is_nested_too_deep_is_not_evaluated() {
    let declared = declared(&json!({"type": "integer"}));
    let compile = |rule: &str| Program::compile(rule, &declared, false, Wanted::Bool);
    let long = format!("self == {}1", "1 + ".repeat(5000));
    assert_eq!(compile(&long).unwrap_err(), Unusable::Unknown);
    let deep = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(compile(&deep).unwrap_err(), Unusable::Unknown);
    let terms = format!("self == 1{}", " && self == 1".repeat(5000));
    assert!(compile(&terms).is_ok());
}

/// The errors of the parser for texts that are no rules, as a kube-apiserver v1.36.2 prints them: places and messages.
#[test]
fn after_a_mistake_the_parser_goes_on_where_it_can() {
    let integer = json!({"type": "integer"});
    let operand = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, \
         STRING, BYTES, IDENTIFIER}";
    for (rule, mistakes) in [
        (
            "a = b",
            &[
                "3: token recognition error at: '= '",
                "5: extraneous input 'b' expecting <EOF>",
            ][..],
        ),
        ("a === b", &["5: token recognition error at: '= '"]),
        ("a b c", &["3: mismatched input 'b' expecting <EOF>"]),
        ("(1 + 2", &["7: missing ')' at '<EOF>'"]),
        (
            "!(1 = 2)",
            &[
                "5: token recognition error at: '= '",
                "7: extraneous input '2' expecting ')'",
            ],
        ),
        (
            "[1,2",
            &["5: mismatched input '<EOF>' expecting {']', ','}"],
        ),
        ("a.", &["3: no viable alternative at input '.'"]),
        ("a + + b", &["5: extraneous input '+' expecting OPERAND"]),
        (
            "*",
            &[
                "1: mismatched input '*' expecting OPERAND",
                "2: mismatched input '<EOF>' expecting OPERAND",
            ],
        ),
        (
            "'abc",
            &[
                "1: token recognition error at: ''abc'",
                "5: mismatched input '<EOF>' expecting OPERAND",
            ],
        ),
        ("'a' 'b'", &["5: extraneous input ''b'' expecting <EOF>"]),
        (
            "'\\q'",
            &[
                "1: token recognition error at: ''\\q'",
                "4: token recognition error at: '''",
                "5: mismatched input '<EOF>' expecting OPERAND",
            ],
        ),
        ("true ? true false", &["13: missing ':' at 'false'"]),
    ] {
        let said = wrong(integer.clone(), rule);
        let told = said.split("ERROR: <input>:1:").skip(1);
        let told: Vec<String> = told
            .map(|one| one.lines().next().unwrap().replace(" Syntax error:", ""))
            .map(|one| one.replace(operand, "OPERAND"))
            .collect();
        assert_eq!(told, mistakes, "{rule}");
    }
}
