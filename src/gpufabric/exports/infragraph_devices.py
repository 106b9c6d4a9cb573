"""Parts → InfraGraph devices: components, links and edges of the inside of a server or switch."""

from __future__ import annotations

from typing import Any

from gpufabric.records.parts import ServerPart
from gpufabric.units import gbps, gigabytes

Json = dict[str, Any]


def server_device(name: str, part: ServerPart, port_rates: list[float]) -> Json:
    """Return a server: GPUs, CPUs, PCIe switches, NICs and ports, and how they are joined.

    Parameters
    ----------
    name, part
    port_rates
        Bytes/s of each port, in the order of the part's NICs; 0 where unknown.
    """
    placed = [one.numa for one in part.pcie] + [gpu.numa for gpu in part.gpus]
    numas = sorted({numa for numa in placed if numa is not None}) or [0]
    pcie = {one.id: number for number, one in enumerate(part.pcie)}
    device = _Device(name, part.description or part.model)
    device.component("gpu", "xpu", len(part.gpus))
    device.component("cpu", "cpu", len(numas))
    device.component("pcie", "switch", len(pcie))
    device.component("nic", "nic", len(part.nics))
    device.component("port", "port", len(port_rates))
    for number, one in enumerate(part.pcie):
        cpu = numas.index(one.numa) if one.numa is not None else 0
        device.edge(f"pcie[{number}]", f"cpu[{cpu}]", _bytes_link("pcie-up", one.bytes_per_s))
    hung = [(f"gpu[{gpu.index}]", gpu.pcie) for gpu in part.gpus]
    hung += [(f"nic[{number}]", nic.pcie) for number, nic in enumerate(part.nics)]
    for end, at in hung:
        if at in pcie:
            rate = part.pcie[pcie[at]].peer_bytes_per_s or part.pcie[pcie[at]].bytes_per_s
            device.edge(end, f"pcie[{pcie[at]}]", _bytes_link("pcie", rate))
        else:
            device.edge(end, "cpu[0]", {"name": "host"})
    ports = [number for number, nic in enumerate(part.nics) for _ in nic.ports]
    for port, (nic, rate) in enumerate(zip(ports, port_rates, strict=True)):
        device.edge(f"nic[{nic}]", f"port[{port}]", bits_link("port", rate))
    _scale_up(device, part)
    return device.document()


def switch_device(name: str, description: str, ports: int) -> Json:
    """Return a switch: its chip and its ports."""
    device = _Device(name, description)
    device.component("asic", "switch", 1)
    device.component("port", "port", ports)
    device.edge("asic[0:1]", f"port[0:{ports}]", {"name": "internal"}, "many2many")
    return device.document()


def endpoint_device(name: str, description: str, ports: int) -> Json:
    """Return what is only known to have ports."""
    device = _Device(name, description)
    device.component("nic", "nic", 1)
    device.component("port", "port", ports)
    device.edge("nic[0:1]", f"port[0:{ports}]", {"name": "internal"}, "many2many")
    return device.document()


def bits_link(word: str, bytes_per_s: float, latency_ns: float | None = None) -> Json:
    """Return a link whose rate is in Gb/s, as ports have them."""
    rate = gbps(bytes_per_s)
    name = f"{word}-{_number(rate)}Gbps" if rate else word
    physical: Json = (
        {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": rate}} if rate else {}
    )
    if latency_ns is not None:
        name += f"-{round(latency_ns)}ns"
        physical["latency"] = {"choice": "ns", "ns": latency_ns}
    return {"name": name, "physical": physical} if physical else {"name": name}


def _bytes_link(word: str, bytes_per_s: float) -> Json:
    """Return a link whose rate is in GB/s, as NVLink and PCIe have them."""
    rate = gigabytes(bytes_per_s)
    physical = {"bandwidth": {"choice": "gigabytes_per_second", "gigabytes_per_second": rate}}
    return {"name": f"{word}-{_number(rate)}GBps", "physical": physical}


def scale_up_link(bytes_per_s: float) -> Json:
    """Return a link of a GPU to the scale-up switch, or to another GPU."""
    return _bytes_link("scale-up", bytes_per_s)


def _scale_up(device: _Device, part: ServerPart) -> None:
    inside, gpus = part.scale_up, len(part.gpus)
    if inside.kind == "switched" and inside.domain_servers == 1 and gpus:
        count = max(inside.switches, 1)
        device.component("scale-up-switch", "switch", count)
        link = scale_up_link(inside.gpu_bytes_per_s / count)
        device.edge(f"gpu[0:{gpus}]", f"scale-up-switch[0:{count}]", link, "many2many")
    if inside.kind == "mesh" and gpus > 1:
        for a in range(gpus):
            for b in range(a + 1, gpus):
                links = inside.pair_links[a][b] if inside.pair_links else 1
                one = (
                    inside.link_bytes_per_s or inside.pair_bytes_per_s or inside.gpu_bytes_per_s / (gpus - 1)
                )
                if links:
                    device.edge(f"gpu[{a}]", f"gpu[{b}]", scale_up_link(links * one))


class _Device:
    """A device that is being put together."""

    def __init__(self, name: str, description: str) -> None:
        self._head: Json = {"name": name, "description": description}
        self._components: list[Json] = []
        self._links: dict[str, Json] = {}
        self._edges: list[Json] = []

    def component(self, name: str, choice: str, count: int) -> None:
        if count:
            self._components.append({"name": name, "count": count, "choice": choice, choice: {}})

    def edge(self, one: str, other: str, link: Json, scheme: str = "one2one") -> None:
        self._links[link["name"]] = link
        ends = {"ep1": {"component": one}, "ep2": {"component": other}}
        self._edges.append({**ends, "scheme": scheme, "link": link["name"]})

    def document(self) -> Json:
        return {
            **self._head,
            "components": self._components,
            "links": list(self._links.values()),
            "edges": self._edges,
        }


def _number(value: float) -> str:
    return f"{value:.6g}".replace(".", "p").replace("+", "")
