//! Texts with a secret in them, as they are in files, commands, variables and logs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::secrets::Secrets;

/// Texts in which the name before the secret betrays it. `{}` is the secret.
const NAMED: [&str; 83] = [
    "db.password={}",
    "db.user=app\ndb.password = {}\ndb.port=5432\n",
    "server:\n  port: 80\n  db:\n    user: app\n    password: {}\n",
    "server:\n  db: {user: app, password: {}}\n",
    "{\"db\":{\"user\":\"app\",\"password\":\"{}\"}}",
    "{\"config\":\"{\\\"db\\\":{\\\"password\\\":\\\"{}\\\"}}\"}",
    "[client]\nuser=app\npassword={}\n",
    "db:5432:app:app:{}",
    "machine db login app password {}",
    "<db><user>app</user><password>{}</password></db>",
    "<add key=\"DbPassword\" value=\"{}\"/>",
    "[database]\nuser = \"app\"\npassword = \"{}\"\n",
    "bind 0.0.0.0\nrequirepass {}\n",
    "ALTER USER app IDENTIFIED BY '{}';",
    "CREATE ROLE app LOGIN PASSWORD '{}';",
    "Server=db;Database=app;User Id=sa;Pwd={};Encrypt=true",
    "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core",
    "postgres://app:{}@db:5432/app?sslmode=disable",
    "DATABASE_URL=postgres://app:{}@db:5432/app",
    "mysql -h db -u root -p {} app",
    "mysql -h db -u root -p{} app",
    "mysql -h db --password {}",
    "sh -c \"mysqldump -h db -p {} app > /tmp/x\"",
    "curl -u app:{} https://api.example.com/x",
    "curl -H 'Authorization: Bearer {}' https://api.example.com/x",
    "curl -H \"X-Api-Key: {}\" https://api.example.com/x",
    "PGPASS={} pg_dump app",
    "export DB_PASS={}",
    "set -e\nexport PGPASSWORD=\"{}\"\npsql app",
    "https://api.example.com/x?token={}&page=2",
    "{\"auths\":{\"registry.example.com\":{\"username\":\"app\",\"password\":\"{}\"}}}",
    "apiVersion: v1\nkind: Config\nusers:\n- name: app\n  user:\n    token: {}\n",
    "apiVersion: v1\nkind: Config\nusers:\n- name: app\n  user:\n    client-key-data: {}\n",
    "user: app\npassword: |\n  {}\n  and more\nport: 1\n",
    "user: app\npassword: >-\n  {}\nport: 1\n",
    "user: app\ntoken: \"{}\"\n",
    "user: app\ntoken: '{}'\n",
    "# the old password: {}\ncolor: blue\n",
    "color: blue # password: {}\n",
    "helm upgrade x chart --set db.password={}",
    "kubectl create secret generic db --from-literal=password={}",
    "Set-Cookie: session={}; Path=/",
    "docker login -u app -p {} registry.example.com",
    "sshpass -p {} ssh db",
    "redis-cli -h cache -a {} ping",
    "time=10:00 level=error msg=\"cannot log in\" password={} user=app",
    "connecting with &Config{User:app Password:{} Port:1}",
    "connecting with map[password:{} user:app]",
    "- {name: DB_PASSWORD, value: {}}",
    "env:\n- name: DB_PASSWORD\n  value: {}\n- name: COLOR\n  value: blue\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  word: {}\n",
    "+  stringData:\n+    word: {}\n   type: Opaque",
    "apiVersion: v1\nkind: Secret\ndata:\n  word: {}\n broken",
    "\"kind\":\"Secret\",\"stringData\":{\"word\":\"{}\",\"other\":\"x",
    "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"stringData\":{\"word\":\"{}\"}}",
    "args:\n- --user\n- app\n- --password\n- {}\n",
    "\"--password\", \"{}\"",
    "openssl rsa -in key.pem -passin pass:{}",
    "ldapsearch -x -D cn=app -w {} -b dc=example",
    "sqlcmd -S db -U sa -P {} -Q x",
    "kubectl create secret generic db --from-literal=word={}",
    "kubectl create secret generic db --from-literal word={}",
    "kubectl create secret docker-registry r --docker-username=app --docker-password={}",
    "kubectl config set-credentials app --token={}",
    "java -Dspring.datasource.password={} -jar app.jar",
    "docker run -e MYSQL_ROOT_PASSWORD={} mysql",
    "psql \"host=db user=app password={}\"",
    "curl --user app:{} https://api.example.com/x",
    "curl -uapp:{} https://api.example.com/x",
    "gpg --batch --passphrase {} -d x.gpg",
    "unzip -P {} x.zip",
    "redis://:{}@cache:6379/0",
    "jdbc:mysql://db/app?user=app&password={}",
    "git clone https://app:{}@git.example.com/x",
    "smbclient //files/share -U app%{}",
    "htpasswd -b /etc/users app {}",
    "vault login {}",
    "vault kv put secret/db word={}",
    "redis-cli AUTH {}",
    "echo {} | docker login -u app --password-stdin registry.example.com",
    "aws configure set aws_secret_access_key {}",
    "SET PASSWORD FOR 'app' = '{}';",
    "Authorization: Basic {}",
];

/// Texts in which the shape of the secret betrays it, under any name.
const SHAPED: [&str; 5] = [
    "harmless: {}",
    "use {} for now",
    "https://hooks.slack.com/services/T00/B00/{}",
    "the call had Bearer {} in it",
    "{}",
];

/// One text for each way of writing a secret.
pub fn carriers(secrets: &mut Secrets) -> Vec<String> {
    let mut all = Vec::new();
    let fill = |text: &str, secret: &str| text.replace("{}", secret);
    for (at, text) in NAMED.iter().enumerate() {
        all.push(fill(text, &secrets.word()));
        if at % 4 == 0 {
            all.push(fill(text, &secrets.random()));
        }
    }
    for text in SHAPED {
        all.push(fill(text, &secrets.random()));
    }
    let wrapped = |text: String| STANDARD.encode(text);
    all.push(wrapped(format!("token: {}", secrets.word())));
    all.push(wrapped(wrapped(format!("password={}", secrets.word()))));
    all.push(wrapped(format!("postgres://app:{}@db/app", secrets.word())));
    all.push(format!(
        "Authorization: Basic {}",
        wrapped(format!("app:{}", secrets.word()))
    ));
    all.push(format!(
        "https://x/?next=https%3A%2F%2Fy%2F%3Ftoken%3D{}",
        secrets.word()
    ));
    all.push(format!("https://{}@o1.ingest.sentry.io/4", secrets.hex()));
    all.push(format!(
        "https://{}:{}@o1.ingest.sentry.io/4",
        secrets.hex(),
        secrets.hex()
    ));
    all.push(format!("ghp_{}", secrets.random()));
    all.push(format!(
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.{}",
        secrets.random()
    ));
    all.push(format!("app:$apr1$x${}", secrets.random()));
    let lines: Vec<String> = (0..4).map(|_| secrets.random()).collect();
    for kind in [
        "RSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let lines = lines.join("\n");
        all.push(format!(
            "-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"
        ));
    }
    all.push(format!(
        "key: \"-----BEGIN EC PRIVATE KEY-----\\n{}\\n",
        secrets.random()
    ));
    all.push(json!({"password": secrets.signs(), "n": 1}).to_string());
    all.push(json!({"a": {"b": [{"token": secrets.signs()}]}}).to_string());
    let inner = json!({"client_secret": secrets.signs()}).to_string();
    all.push(json!({"file": inner}).to_string());
    all
}
