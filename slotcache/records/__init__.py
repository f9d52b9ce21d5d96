"""The traffic record: what was asked, how it was read and what came of it, for reports and for review.

from slotcache.records import TrafficRecord

cache = SlotCache(Parser.load(), observers=[TrafficRecord("traffic.db")])
"""

from slotcache.records.files import export_lines, import_lines, read_records
from slotcache.records.record import Record
from slotcache.records.traffic import TrafficRecord

__all__ = ["Record", "TrafficRecord", "export_lines", "import_lines", "read_records"]
