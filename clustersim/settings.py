"""Django settings; everything that an operator may choose comes from the environment (docs/deployment.md)."""

import os
from pathlib import Path

from clustersim import __version__, environment

BASE_DIR = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("CLUSTERSIM_DATA") or BASE_DIR / "var").resolve()
environment.private_folder(DATA)

HOST = os.environ.get("HOST") or "127.0.0.1"
PORT = environment.integer("PORT", 8000, least=1)
TLS_PORT = environment.integer("TLS_PORT", 8443)
WORKERS = environment.integer("WORKERS", 2, least=1, most=64)
PLUGINS = environment.switch("CLUSTERSIM_PLUGINS", True)
REDIS_URL = os.environ.get("REDIS_URL") or f"unix://{environment.redis_socket(DATA)}"

# Who may open sessions: anyone, password, local; empty: anyone on this machine, from the network with the pass phrase.
OPEN_SESSIONS = environment.choice("OPEN_SESSIONS", ("anyone", "password", "local"))
PASS_PHRASE = environment.pass_phrase(DATA)
METRICS_TOKEN = os.environ.get("METRICS_TOKEN", "")

SECRET_KEY = environment.secret_key(DATA)
DEBUG = False
# Literal addresses cannot be written as patterns, so HostMiddleware decides; the names are what it accepts beside them.
ALLOWED_HOSTS = ["*", *environment.host_names(os.environ.get("CLUSTERSIM_HOSTS", ""))]

EXTENDER_ORIGINS = environment.extender_origins(os.environ.get("CLUSTERSIM_EXTENDERS", ""))

INSTALLED_APPS = [
    "django.contrib.staticfiles",
    "channels",
    "clustersim.store",
    "clustersim.classroom",
    "clustersim.runtime",
    "clustersim.pages",
]
MIDDLEWARE = [
    "clustersim.headers.SecurityHeadersMiddleware",
    "clustersim.pages.refusals.RefusalPageMiddleware",
    "clustersim.hosts.HostMiddleware",
    "clustersim.staticserver.StaticMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
]
ROOT_URLCONF = "clustersim.urls"
ASGI_APPLICATION = "clustersim.asgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.static",
            ]
        },
    }
]

DATABASES = {"default": environment.database(os.environ.get("DATABASE_URL", ""), DATA)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Carries hints between processes (clustersim/feed/hints.py, docs/adr/0009): one channel a process.
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "clustersim", "expiry": 10, "group_expiry": 600, "capacity": 1_000},
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

LESSONS = [BASE_DIR / "lessons", DATA / "lessons"]
"""Folders whose folders are lesson packages: those that come along, and a teacher's own."""

STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "clustersim.staticserver.PlotlyFinder",
]
RELEASE = os.environ.get("CLUSTERSIM_RELEASE") or environment.release(
    __version__, {"static": BASE_DIR / "static", "templates": BASE_DIR / "templates"}
)
STATIC_URL = f"/static/{RELEASE}/"
STATIC_ROOT = DATA / "static" / RELEASE
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "clustersim.staticserver.BareStorage"},
}

# Bodies are bounded by their routes while they come in (clustersim.bodies).
DATA_UPLOAD_MAX_MEMORY_SIZE = None
SECURE_CONTENT_TYPE_NOSNIFF = True
SILENCED_SYSTEM_CHECKS: list[str] = []

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "clustersim.logs.LineFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("CLUSTERSIM_LOG", "INFO").upper()},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "daphne": {"level": "WARNING"},
        "twisted": {"level": "WARNING"},
        "asyncio": {"level": "WARNING"},
    },
}
