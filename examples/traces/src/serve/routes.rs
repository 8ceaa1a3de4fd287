//! Which path does what.
use super::{
    answer::{Answer, refused},
    probes,
    read::{self, Ask},
    receive::receive,
    refusal::Refusal,
    state::State,
    telemetry,
};
use hyper::{
    Method, Request, StatusCode,
    body::Incoming,
    header::{ALLOW, HeaderValue},
};

pub(super) async fn handle(state: &State, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let path: Vec<&str> = head.uri.path().split('/').skip(1).collect();
    let is_get = matches!(head.method, Method::GET | Method::HEAD);
    let ask = || Ask::new(state, &head);
    let (route, answer) = match path.as_slice() {
        ["v1", "traces"] if head.method == Method::POST => {
            let started = tokio::time::Instant::now();
            let answer = receive(state, &head.headers, body).await;
            telemetry::exported_in(started.elapsed());
            ("/v1/traces", answer)
        }
        ["v1", "traces"] => ("/v1/traces", wrong_method("POST")),
        ["healthz" | "readyz" | "metrics"] | ["api", "tenants", ..] if !is_get => {
            ("other", wrong_method("GET, HEAD"))
        }
        ["healthz"] => ("/healthz", probes::health()),
        ["readyz"] => ("/readyz", probes::readiness(state).await),
        ["metrics"] => ("/metrics", probes::metrics(state).await),
        ["api", "tenants"] => ("/api/tenants", read::tenants(ask()).await),
        ["api", "tenants", tenant, "traces"] => {
            ("/api/tenants/{tenant}/traces", read::traces(ask(), tenant).await)
        }
        ["api", "tenants", tenant, "traces", trace] => (
            "/api/tenants/{tenant}/traces/{trace}",
            read::trace(ask(), tenant, trace).await,
        ),
        ["api", "tenants", tenant, "services"] => (
            "/api/tenants/{tenant}/services",
            read::services(ask(), tenant).await,
        ),
        _ => {
            let message = "there is nothing at this path; spans go to POST /v1/traces";
            ("other", refused(&Refusal::new(StatusCode::NOT_FOUND, message)))
        }
    };
    telemetry::request(route, answer.status());
    answer
}

fn wrong_method(allowed: &'static str) -> Answer {
    let message = format!("this path takes {allowed}");
    let mut answer = refused(&Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message));
    answer
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(allowed));
    answer
}
