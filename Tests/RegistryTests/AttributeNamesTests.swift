import Registry
import Testing

struct AttributeNamesTests {
    @Test func `names get numbers from 1 on and keep them`() {
        var names = AttributeNames()
        #expect(names.add(.alive) == 1)
        #expect(names.add(.tag("sport")) == 2)
        #expect(names.add(.alive) == 1)
        #expect(names.number(of: .tag("sport")) == 2)
        #expect(names.name(of: 2) == .tag("sport"))
        #expect(names.name(of: 3) == nil)
    }

    @Test func `fields that are not names with numbers are left out`() {
        let fields = [
            ("tag:a", "7"), ("tag:b", "x"), ("tag:c", "0"), ("tag:d", "65536"), ("tag:e", "7"),
            ("tag:f", "-1"),
        ]
        var names = AttributeNames(fields: fields)
        #expect(names.count == 1)
        #expect(names.add(.tag("b")) == 8)
    }

    @Test func `a full dictionary takes days but no other names`() {
        var names = AttributeNames()
        for number in 0..<AttributeNames.limit { #expect(names.add(.tag("\(number)")) != nil) }
        #expect(names.add(.tag("more")) == nil)
        #expect(names.add(.seen(day: 20_000)) == AttributeNames.limit + 1)
        #expect(names.add(.tag("5")) == 6)
    }
}
