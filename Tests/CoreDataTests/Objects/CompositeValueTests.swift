import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Composite attributes in memory: dictionaries whose elements have key paths.
@Suite struct CompositeValueTests {
    private static let model: NSManagedObjectModel = {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [
            Club.attribute("latitude", .doubleAttributeType), Club.attribute("longitude", .doubleAttributeType),
        ]
        let address = NSCompositeAttributeDescription()
        address.name = "address"
        address.elements = [
            Club.attribute("city", .stringAttributeType), Club.attribute("number", .integer16AttributeType), place,
        ]
        let model = NSManagedObjectModel()
        model.entities = [Club.entity("House", [address])]
        return model
    }()

    private var house: NSManagedObject {
        NSManagedObject(entity: Self.model.entitiesByName["House"]!, insertInto: nil)
    }

    @Test func elementsAreReadAndSetByKeyPath() {
        let house = house
        #expect(house.value(forKeyPath: "address.city") == nil)
        house.setValue("Rome", forKeyPath: "address.city")
        house.setValue(12, forKeyPath: "address.number")
        house.setValue(41.9, forKeyPath: "address.place.latitude")
        #expect(house.value(forKeyPath: "address.city") as? String == "Rome")
        #expect(house.value(forKeyPath: "address.place.latitude") as? Double == 41.9)
        let whole = house.value(forKey: "address") as? [String: Any]
        #expect(whole?.keys.sorted() == ["city", "number", "place"])
        house.setValue(nil, forKeyPath: "address.city")
        #expect(
            house.value(forKeyPath: "address.city") == nil && house.value(forKeyPath: "address.number") as? Int == 12)
    }

    @Test func theWholeIsSetAtOnce() {
        let house = house
        house.setValue(["city": "Oslo", "place": ["longitude": 10]] as [String: Any], forKey: "address")
        #expect(house.value(forKeyPath: "address.place.longitude") as? Double == 10)
        house.setValue(nil, forKey: "address")
        #expect(house.value(forKey: "address") == nil && house.value(forKeyPath: "address.city") == nil)
    }

    @Test(.needs(.process)) func wrongElementsAreRefused() async {
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CompositeValueTests().house.setValue("IT", forKeyPath: "address.country")
        }
        #expect(unknown.text.contains("The composite attribute 'address' has no element named 'country'."))
        let wrong = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CompositeValueTests().house.setValue(["number": "twelve"], forKey: "address")
        }
        #expect(wrong.text.contains("Unacceptable type of value for attribute: property = \"number\""))
    }
}

extension Optional where Wrapped == ExitTest.Result {
    /// Standard error of the stopped program.
    var text: String { String(decoding: self?.standardErrorContent ?? [], as: UTF8.self) }
}
