import FarmPolicy
import Testing

/// What operators want to last, as it is stored.
struct WishTests {
    @Test(arguments: [("4", StaffWish.fixed(4)), ("auto", .auto)]) func `as many workers`(
        text: String, wish: StaffWish
    ) {
        #expect(StaffWish(text) == wish && wish.text == text)
    }

    @Test(arguments: ["", "0", "-1", "many", "4.5", "Auto"]) func `no number of workers`(text: String) {
        #expect(StaffWish(text) == nil)
    }

    @Test func `pins are told from other wishes`() {
        let pins = Pins([
            "pin:demo:7": "beta", "scale:alpha": "4", "pin:demo:x": "a", "pin:7": "b", "pin:mail:0": "c",
        ])
        #expect(pins.of("demo") == [7: "beta"] && pins.of("mail") == [0: "c"] && pins.of("news").isEmpty)
        #expect(Pins([Pins.name(app: "demo", shard: 12): "x"]).of("demo") == [12: "x"])
    }
}
