"""Time zones by the names of the tz database and by the names that Rails uses."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Names of Rails that equal the last part of the tz database's name.
_CITIES = {
    "Africa": "Cairo, Casablanca, Harare, Monrovia, Nairobi",
    "America": "Bogota, Caracas, Chihuahua, La Paz, Lima, Mazatlan, Mexico City, Monterrey, Montevideo, Puerto Rico, "
    "Santiago, Tijuana",
    "Asia": "Almaty, Baghdad, Baku, Bangkok, Chongqing, Dhaka, Hong Kong, Irkutsk, Jakarta, Jerusalem, Kabul, "
    "Kamchatka, Karachi, Kathmandu, Kolkata, Krasnoyarsk, Kuala Lumpur, Kuwait, Magadan, Muscat, Novosibirsk, Rangoon, "
    "Riyadh, Seoul, Singapore, Srednekolymsk, Taipei, Tashkent, Tbilisi, Tehran, Tokyo, Ulaanbaatar, Urumqi, "
    "Vladivostok, Yakutsk, Yerevan",
    "Atlantic": "Azores",
    "Australia": "Adelaide, Brisbane, Darwin, Hobart, Melbourne, Perth, Sydney",
    "Europe": "Amsterdam, Athens, Belgrade, Berlin, Bratislava, Brussels, Bucharest, Budapest, Copenhagen, Dublin, "
    "Helsinki, Istanbul, Kaliningrad, Lisbon, Ljubljana, London, Madrid, Minsk, Moscow, Paris, Prague, Riga, Rome, "
    "Samara, Sarajevo, Skopje, Sofia, Stockholm, Tallinn, Vienna, Vilnius, Volgograd, Warsaw, Zagreb, Zurich",
    "Pacific": "Auckland, Fiji, Guam, Port Moresby",
}
_OTHER_NAMES = {
    "Abu Dhabi": "Asia/Muscat",
    "Alaska": "America/Juneau",
    "American Samoa": "Pacific/Pago_Pago",
    "Arizona": "America/Phoenix",
    "Astana": "Asia/Almaty",
    "Atlantic Time (Canada)": "America/Halifax",
    "Beijing": "Asia/Shanghai",
    "Bern": "Europe/Zurich",
    "Brasilia": "America/Sao_Paulo",
    "Buenos Aires": "America/Argentina/Buenos_Aires",
    "Canberra": "Australia/Canberra",
    "Cape Verde Is.": "Atlantic/Cape_Verde",
    "Central America": "America/Guatemala",
    "Central Time (US & Canada)": "America/Chicago",
    "Chatham Is.": "Pacific/Chatham",
    "Chennai": "Asia/Kolkata",
    "Eastern Time (US & Canada)": "America/New_York",
    "Edinburgh": "Europe/London",
    "Ekaterinburg": "Asia/Yekaterinburg",
    "Georgetown": "America/Guyana",
    "Greenland": "America/Nuuk",
    "Guadalajara": "America/Mexico_City",
    "Hanoi": "Asia/Bangkok",
    "Hawaii": "Pacific/Honolulu",
    "Indiana (East)": "America/Indiana/Indianapolis",
    "International Date Line West": "Etc/GMT+12",
    "Islamabad": "Asia/Karachi",
    "Kyiv": "Europe/Kiev",
    "Marshall Is.": "Pacific/Majuro",
    "Mid-Atlantic": "Atlantic/South_Georgia",
    "Midway Island": "Pacific/Midway",
    "Mountain Time (US & Canada)": "America/Denver",
    "Mumbai": "Asia/Kolkata",
    "New Caledonia": "Pacific/Noumea",
    "New Delhi": "Asia/Kolkata",
    "Newfoundland": "America/St_Johns",
    "Nuku'alofa": "Pacific/Tongatapu",
    "Osaka": "Asia/Tokyo",
    "Pacific Time (US & Canada)": "America/Los_Angeles",
    "Pretoria": "Africa/Johannesburg",
    "Quito": "America/Lima",
    "Samoa": "Pacific/Apia",
    "Sapporo": "Asia/Tokyo",
    "Saskatchewan": "America/Regina",
    "Solomon Is.": "Pacific/Guadalcanal",
    "Sri Jayawardenepura": "Asia/Colombo",
    "St. Petersburg": "Europe/Moscow",
    "Tokelau Is.": "Pacific/Fakaofo",
    "UTC": "Etc/UTC",
    "Wellington": "Pacific/Auckland",
    "West Central Africa": "Africa/Algiers",
}
RAILS_NAMES = {
    **{name: f"{region}/{name.replace(' ', '_')}" for region, names in _CITIES.items() for name in names.split(", ")},
    **_OTHER_NAMES,
}
MAX_LENGTH = 100


def time_zone_or_none(name: str) -> ZoneInfo | None:
    """Return a time zone by either kind of name."""
    key = RAILS_NAMES.get(name, name)
    if not key or len(key) > MAX_LENGTH:
        return None
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a directory.
        return None
