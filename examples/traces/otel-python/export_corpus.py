"""Exports the corpus with the stock OTLP exporter of the OpenTelemetry Python SDK.

Every request of the corpus is rebuilt as spans of the SDK and exported as one batch, with the exporter's own retries.
A batch that the exporter reports as failed is exported again, as an application that must lose nothing would do. Ends
with status 0 once every batch was reported as a success, and prints one line of JSON with the figures.
"""

import argparse
import gzip
import json
import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

# OTLP counts kinds from 1, with 0 for "not said"; the SDK cannot leave it unsaid.
KINDS = {
    0: SpanKind.INTERNAL,
    1: SpanKind.INTERNAL,
    2: SpanKind.SERVER,
    3: SpanKind.CLIENT,
    4: SpanKind.PRODUCER,
    5: SpanKind.CONSUMER,
}
STATUSES = {0: StatusCode.UNSET, 1: StatusCode.OK, 2: StatusCode.ERROR}


def value(raw):
    """One attribute's value as the SDK has it."""
    if "stringValue" in raw:
        return raw["stringValue"]
    if "boolValue" in raw:
        return raw["boolValue"]
    if "intValue" in raw:
        return int(raw["intValue"])
    if "doubleValue" in raw:
        return float(raw["doubleValue"])
    if "arrayValue" in raw:
        return tuple(value(one) for one in raw["arrayValue"].get("values", ()))
    raise ValueError(f"the SDK has no such value: {raw}")


def attributes(raw):
    return {one["key"]: value(one["value"]) for one in raw.get("attributes", ())}


def context(trace_id, span_id):
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(1))


def span(raw, resource, scope):
    parent = raw.get("parentSpanId")
    status = raw.get("status", {})
    return ReadableSpan(
        name=raw.get("name", ""),
        context=context(raw["traceId"], raw["spanId"]),
        parent=context(raw["traceId"], parent) if parent else None,
        resource=resource,
        attributes=attributes(raw),
        events=[Event(one["name"], attributes(one), int(one["timeUnixNano"])) for one in raw.get("events", ())],
        links=[Link(context(one["traceId"], one["spanId"]), attributes(one)) for one in raw.get("links", ())],
        kind=KINDS[raw.get("kind", 0)],
        status=Status(STATUSES[status.get("code", 0)], status.get("message") or None),
        start_time=int(raw["startTimeUnixNano"]),
        end_time=int(raw["endTimeUnixNano"]),
        instrumentation_scope=scope,
    )


def spans(request):
    for resource_spans in request["resourceSpans"]:
        resource = Resource(attributes(resource_spans.get("resource", {})))
        for scope_spans in resource_spans["scopeSpans"]:
            raw = scope_spans.get("scope", {})
            scope = InstrumentationScope(raw.get("name", ""), raw.get("version"))
            for one in scope_spans["spans"]:
                yield span(one, resource, scope)


def batches(data):
    with gzip.open(f"{data}/traces.otlp.jsonl.gz", "rt") as requests, open(f"{data}/requests.jsonl") as tenants:
        return [
            (json.loads(tenant)["tenant"], list(spans(json.loads(request))))
            for request, tenant in zip(requests, tenants, strict=True)
        ]


class Exporters:
    """One exporter for each thread and tenant: an exporter is not made for many threads."""

    def __init__(self, endpoint, timeout):
        self.endpoint, self.timeout, self.local = endpoint, timeout, threading.local()

    def of(self, tenant):
        known = self.local.__dict__.setdefault("exporters", {})
        if tenant not in known:
            known[tenant] = OTLPSpanExporter(
                endpoint=self.endpoint,
                headers={"x-tenant-id": tenant},
                timeout=self.timeout,
                compression=Compression.Gzip,
            )
        return known[tenant]


class CountTransient(logging.Handler):
    """The exporter tells of its own retries only in its log."""

    def __init__(self):
        super().__init__()
        self.retries = 0

    def emit(self, record):
        if "Transient error" in record.getMessage():
            self.retries += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--endpoint", default="http://127.0.0.1:4318/v1/traces")
    parser.add_argument("--data", required=True, help="the folder of the corpus")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for one export with its retries")
    parser.add_argument("--attempts", type=int, default=100, help="exports of one batch before giving up")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds to wait before each batch")
    parser.add_argument("--verbose", action="store_true", help="show what the exporter logs")
    args = parser.parse_args()

    retries = CountTransient()
    logger = logging.getLogger("opentelemetry.exporter")
    logger.addHandler(retries)
    logger.propagate = args.verbose
    logging.basicConfig(level=logging.WARNING)

    work = batches(args.data)
    exporters = Exporters(args.endpoint, args.timeout)
    failed = []

    def export(batch):
        tenant, batch_spans = batch
        time.sleep(args.pace)
        for attempt in range(args.attempts):
            if exporters.of(tenant).export(batch_spans) is SpanExportResult.SUCCESS:
                failed.append(attempt)
                return True
        return False

    started = time.monotonic()
    with ThreadPoolExecutor(args.threads) as pool:
        succeeded = list(pool.map(export, work))
    seconds = time.monotonic() - started
    sent = sum(len(batch_spans) for _, batch_spans in work)
    print(
        json.dumps(
            {
                "batches": len(work),
                "spans": sent,
                "succeeded": sum(succeeded),
                "retries_of_the_exporter": retries.retries,
                "exports_reported_as_failed": sum(failed),
                "seconds": round(seconds, 2),
                "spans_per_second": round(sent / seconds),
            }
        ),
        flush=True,
    )
    return 0 if all(succeeded) else 1


if __name__ == "__main__":
    sys.exit(main())
